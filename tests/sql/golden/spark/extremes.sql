-- values: SELECT MIN(time) AS least, MAX(time) AS most FROM t
-- MIN(time): one person moves it by at most |x − x'|, at most 120
-- MAX(time): one person moves it by at most |x − x'|, at most 120
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
  ) AS `m0`,
  GREATEST(
    CAST(RINT(
      (
        CASE
          WHEN MAX(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN `time` END) BETWEEN 0.0e0 AND 120.0e0
          THEN MAX(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN `time` END)
          WHEN MAX(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN `time` END) < 0.0e0
          THEN 0.0e0
          WHEN MAX(CASE WHEN `time` <= CAST('Infinity' AS DOUBLE) THEN `time` END) <= CAST('Infinity' AS DOUBLE)
          THEN 120.0e0
        END
      ) * 1024.0e0
    ) AS BIGINT),
    0
  ) AS `m1`
FROM `t`;

-- values: SELECT MAX(time + age) AS most FROM t
-- MAX(time + age): one person moves it by at most |age − age'| + |time − time'|, at most 220
SELECT
  GREATEST(
    MAX(
      CAST(RINT(
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
      ) AS BIGINT)
    ),
    0
  ) AS `m0`
FROM `t`;

-- values: SELECT MIN((POINT(lon, lat) <@> POINT(3, 4)) / speed) AS soonest FROM t
-- MIN((POINT(lon, lat) <@> POINT(3, 4)) / speed): one person moves it by at most 0.05·|lat − lat'| + 0.05·|lon − lon'|, at most 10.2866
SELECT
  LEAST(
    MIN(
      CAST(RINT(
        (
          (
            SQRT(
              (
                (
                  CASE
                    WHEN `lon` BETWEEN (
                      -180.0e0
                    ) AND 180.0e0
                    THEN `lon`
                    WHEN `lon` < (
                      -180.0e0
                    )
                    THEN (
                      -180.0e0
                    )
                    WHEN `lon` <= CAST('Infinity' AS DOUBLE)
                    THEN 180.0e0
                    ELSE (
                      -180.0e0
                    )
                  END - 3.0e0
                ) * (
                  CASE
                    WHEN `lon` BETWEEN (
                      -180.0e0
                    ) AND 180.0e0
                    THEN `lon`
                    WHEN `lon` < (
                      -180.0e0
                    )
                    THEN (
                      -180.0e0
                    )
                    WHEN `lon` <= CAST('Infinity' AS DOUBLE)
                    THEN 180.0e0
                    ELSE (
                      -180.0e0
                    )
                  END - 3.0e0
                )
              ) + (
                (
                  CASE
                    WHEN `lat` BETWEEN (
                      -90.0e0
                    ) AND 90.0e0
                    THEN `lat`
                    WHEN `lat` < (
                      -90.0e0
                    )
                    THEN (
                      -90.0e0
                    )
                    WHEN `lat` <= CAST('Infinity' AS DOUBLE)
                    THEN 90.0e0
                    ELSE (
                      -90.0e0
                    )
                  END - 4.0e0
                ) * (
                  CASE
                    WHEN `lat` BETWEEN (
                      -90.0e0
                    ) AND 90.0e0
                    THEN `lat`
                    WHEN `lat` < (
                      -90.0e0
                    )
                    THEN (
                      -90.0e0
                    )
                    WHEN `lat` <= CAST('Infinity' AS DOUBLE)
                    THEN 90.0e0
                    ELSE (
                      -90.0e0
                    )
                  END - 4.0e0
                )
              )
            ) / CAST(CASE
              WHEN `speed` BETWEEN 20.0e0 AND 90.0e0
              THEN `speed`
              WHEN `speed` < 20.0e0
              THEN 20.0e0
              WHEN `speed` <= CAST('Infinity' AS DOUBLE)
              THEN 90.0e0
              ELSE 20.0e0
            END AS DOUBLE)
          )
        ) * 1024.0e0
      ) AS BIGINT)
    ),
    10533
  ) AS `m0`
FROM `t`;
