-- values: SELECT SUM(CASE WHEN time > 30 THEN 1 ELSE 0 END) FROM t
-- SUM(CASE WHEN time > 30 THEN 1 ELSE 0 END): one person moves it by at most 1, when time changes the outcome of a test
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        CASE
          WHEN `time` > 30.0e0 AND `time` <= CAST('Infinity' AS DOUBLE)
          THEN 1.0e0
          ELSE 0.0e0
        END
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT SUM(COALESCE(time, 10)) FROM t
-- SUM(COALESCE(time, 10)): one person moves it by at most |x − x'|, at most 120
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          COALESCE(
            CASE
              WHEN `time` BETWEEN 0.0e0 AND 120.0e0
              THEN `time`
              WHEN `time` < 0.0e0
              THEN 0.0e0
              WHEN `time` <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END,
            10.0e0
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;
