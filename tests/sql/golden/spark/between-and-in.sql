-- values: SELECT COUNT(*) FROM t WHERE time BETWEEN 10 AND 20
-- COUNT(*): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  (
    `time` >= 10.0e0 AND `time` <= CAST('Infinity' AS DOUBLE)
  )
  AND `time` <= 20.0e0;

-- values: SELECT COUNT(*) FROM t WHERE colour IN ('black', 'white')
-- COUNT(*): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  `colour` IN ('black', 'white');
