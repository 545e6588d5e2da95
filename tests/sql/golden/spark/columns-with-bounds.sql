-- values: SELECT SUM(time) FROM t
-- SUM(time): one person moves it by at most |x − x'|, at most 120
SELECT
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
  ) AS `m0`
FROM `t`;

-- values: SELECT MIN(time) FROM t
-- MIN(time): one person moves it by at most |x − x'|, at most 120
SELECT
  LEAST(
    CAST(RINT(
      (
        CASE
          WHEN MIN(`time`) BETWEEN 0.0e0 AND 120.0e0
          THEN MIN(`time`)
          WHEN MIN(`time`) < 0.0e0
          THEN 0.0e0
          WHEN MIN(`time`) <= CAST('Infinity' AS DOUBLE)
          THEN 120.0e0
        END
      ) * 1024.0e0
    ) AS BIGINT),
    122880
  ) AS `m0`
FROM `t`;
