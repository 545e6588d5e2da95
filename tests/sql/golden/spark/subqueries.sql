-- values: SELECT SUM(late) AS s FROM (SELECT time - 30 AS late FROM t WHERE time > 30) AS q
-- SUM((time - 30)): one person moves it by at most |x − x'|, at most 90
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            CASE
              WHEN `time` BETWEEN 0.0e0 AND 120.0e0
              THEN `time`
              WHEN `time` < 0.0e0
              THEN 0.0e0
              WHEN `time` <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END - 30.0e0
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`
WHERE
  `time` > 30.0e0 AND `time` <= CAST('Infinity' AS DOUBLE);

-- values: WITH a AS (SELECT * FROM t WHERE faculty = 'law') SELECT SUM(salary) AS s FROM a
-- SUM(salary): one person moves it by at most |x − x'|, at most 3000
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          CASE
            WHEN `salary` BETWEEN 1000.0e0 AND 4000.0e0
            THEN `salary`
            WHEN `salary` < 1000.0e0
            THEN 1000.0e0
            WHEN `salary` <= CAST('Infinity' AS DOUBLE)
            THEN 4000.0e0
            ELSE 1000.0e0
          END
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`
WHERE
  `faculty` = 'law';
