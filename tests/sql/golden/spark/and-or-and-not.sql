-- values: SELECT COUNT(*) FROM t WHERE colour = 'black' AND NOT time > 30
-- COUNT(*): one person moves it by at most 1, when colour or time changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  `colour` = 'black' AND `time` <= 30.0e0;
