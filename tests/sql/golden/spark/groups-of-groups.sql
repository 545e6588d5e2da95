-- values: SELECT MAX(s) AS most, MIN(s) AS least FROM (SELECT faculty, SUM(time) AS s FROM t GROUP BY faculty)
-- MAX(s) of groups, each SUM(time): one unit moves it by at most 120
-- MIN(s) of groups, each SUM(time): one unit moves it by at most 120
SELECT
  `faculty` AS `faculty`,
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          CASE
            WHEN `time` BETWEEN 0.0e0 AND 120.0e0
            THEN `time`
            WHEN `time` < 0.0e0
            THEN 0.0e0
            WHEN `time` <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`,
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          CASE
            WHEN `time` BETWEEN 0.0e0 AND 120.0e0
            THEN `time`
            WHEN `time` < 0.0e0
            THEN 0.0e0
            WHEN `time` <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m1`
FROM `t`
WHERE
  `faculty` IN ('math', 'law')
GROUP BY
  `faculty`;

-- records: SELECT COUNT(*) AS k FROM (SELECT colour, COUNT(*) AS n FROM t GROUP BY colour) WHERE n >= 9
-- COUNT(*) of groups, each COUNT(*): one unit moves it by at most 2
SELECT
  `colour` AS `colour`,
  COUNT(*) AS `m0`
FROM `t`
WHERE
  `colour` IN ('black', 'white', 'brown')
GROUP BY
  `colour`;
