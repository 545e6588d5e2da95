-- values: SELECT COUNT(*) FROM t WHERE time > 30
-- COUNT(*): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  `time` > 30.0e0 AND `time` <= CAST('Infinity' AS DOUBLE);

-- values: SELECT COUNT(*) FROM t WHERE colour = 'black'
-- COUNT(*): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  `colour` = 'black';

-- values: SELECT COUNT(*) FROM t WHERE time + age > 60
-- COUNT(*): one person moves it by at most 1, when age or time changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  (
    CASE
      WHEN `time` BETWEEN 0.0e0 AND 120.0e0
      THEN `time`
      WHEN `time` < 0.0e0
      THEN 0.0e0
      WHEN `time` <= CAST('Infinity' AS DOUBLE)
      THEN 120.0e0
    END + CASE
      WHEN `age` BETWEEN 0.0e0 AND 100.0e0
      THEN `age`
      WHEN `age` < 0.0e0
      THEN 0.0e0
      WHEN `age` <= CAST('Infinity' AS DOUBLE)
      THEN 100.0e0
    END
  ) > 60.0e0;
