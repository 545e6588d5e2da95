-- values: SELECT COUNT(*) FROM t WHERE time IS NOT NULL
-- COUNT(*): one person moves it by at most 1, when a value goes missing
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  NOT (
    (
      CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN `time` END
    ) IS NULL
  );

-- values: SELECT COUNT(*) FROM t WHERE (time > 30) IS NOT TRUE
-- COUNT(*): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  NOT (
    COALESCE(
      (
        CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN `time` END > 30.0e0
      ),
      FALSE
    )
  );

-- values: SELECT COUNT(*) FROM t WHERE smoker IS FALSE
-- COUNT(*): one person moves it by at most 1, when smoker changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  COALESCE(`smoker` <> 'true', TRUE);
