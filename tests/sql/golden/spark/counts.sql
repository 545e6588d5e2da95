-- values: SELECT COUNT(time) FROM t
-- COUNT(time): one person moves it by at most 1, when a value goes missing
SELECT
  COUNT(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN 1 END) AS `m0`
FROM `t`;

-- records: SELECT COUNT(*) FROM t
-- COUNT(*): adding or removing one record moves it by at most 1, changing one by at most 0
SELECT
  COUNT(*) AS `m0`
FROM `t`;

-- values: SELECT COUNT(*) FILTER (WHERE time > 30) AS late, COUNT(colour) AS told FROM t
-- COUNT(*) FILTER(WHERE time > 30): one person moves it by at most 1, when time changes the outcome of a test
-- COUNT(colour): one person moves it by at most 1, when a value goes missing
SELECT
  COUNT(CASE WHEN `time` > 30.0e0 AND `time` <= CAST('Infinity' AS DOUBLE) THEN 1 END) AS `m0`,
  COUNT(`colour`) AS `m1`
FROM `t`;

-- values: SELECT COUNT(*) FROM t WHERE smoker AND NOT time >= 30
-- COUNT(*): one person moves it by at most 1, when smoker or time changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  `smoker` = 'true' AND `time` < 30.0e0;
