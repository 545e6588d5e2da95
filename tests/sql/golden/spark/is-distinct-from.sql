-- values: SELECT COUNT(*) FROM t WHERE colour IS DISTINCT FROM 'black'
-- COUNT(*): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  NOT (
    COALESCE((
      `colour` = 'black'
    ), FALSE)
  );

-- values: SELECT COUNT(*) FROM t WHERE time IS NOT DISTINCT FROM 3
-- COUNT(*): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  `time` = 3.0e0;
