-- values: SELECT SUM(time + age) FROM t
-- SUM(time + age): one person moves it by at most |age − age'| + |time − time'|, at most 220
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
            END + CASE
              WHEN `age` BETWEEN 0.0e0 AND 100.0e0
              THEN `age`
              WHEN `age` < 0.0e0
              THEN 0.0e0
              WHEN `age` <= CAST('Infinity' AS DOUBLE)
              THEN 100.0e0
            END
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT SUM(-(time - age)) FROM t
-- SUM(-(time - age)): one person moves it by at most |age − age'| + |time − time'|, at most 220
SELECT
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          (
            -(
              (
                CASE
                  WHEN `time` BETWEEN 0.0e0 AND 120.0e0
                  THEN `time`
                  WHEN `time` < 0.0e0
                  THEN 0.0e0
                  WHEN `time` <= CAST('Infinity' AS DOUBLE)
                  THEN 120.0e0
                END - CASE
                  WHEN `age` BETWEEN 0.0e0 AND 100.0e0
                  THEN `age`
                  WHEN `age` < 0.0e0
                  THEN 0.0e0
                  WHEN `age` <= CAST('Infinity' AS DOUBLE)
                  THEN 100.0e0
                END
              )
            )
          )
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`;
