-- values: SELECT COUNT(DISTINCT colour) AS colours FROM t
-- COUNT(DISTINCT colour): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(DISTINCT CASE WHEN `colour` IN ('black', 'white', 'brown') THEN `colour` END) AS `m0`
FROM `t`;

-- records: SELECT faculty, COUNT(DISTINCT colour) AS colours FROM t WHERE time > 3 GROUP BY faculty
-- COUNT(DISTINCT colour): adding or removing one record moves it by at most 1, changing one by at most 2
SELECT
  `faculty` AS `faculty`,
  COUNT(DISTINCT CASE WHEN `colour` IN ('black', 'white', 'brown') THEN `colour` END) AS `m0`
FROM `t`
WHERE
  (
    `time` > 3.0e0 AND `time` <= CAST('Infinity' AS DOUBLE)
  )
  AND `faculty` IN ('math', 'law')
GROUP BY
  `faculty`;
