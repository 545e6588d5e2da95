-- values: SELECT MIN(time) AS least, MAX(time) AS most FROM t
-- MIN(time): one person moves it by at most |x − x'|, at most 120
-- MAX(time): one person moves it by at most |x − x'|, at most 120
SELECT
  LEAST(
    CAST((
      CASE
        WHEN MIN(TRY_CAST("time" AS DOUBLE)) BETWEEN 0.0e0 AND 120.0e0
        THEN MIN(TRY_CAST("time" AS DOUBLE))
        WHEN MIN(TRY_CAST("time" AS DOUBLE)) < 0.0e0
        THEN 0.0e0
        WHEN MIN(TRY_CAST("time" AS DOUBLE)) <= CAST('Infinity' AS DOUBLE)
        THEN 120.0e0
      END
    ) * 1024.0e0 AS BIGINT),
    122880
  ) AS "m0",
  GREATEST(
    CAST((
      CASE
        WHEN MAX(
          CASE
            WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN TRY_CAST("time" AS DOUBLE)
          END
        ) BETWEEN 0.0e0 AND 120.0e0
        THEN MAX(
          CASE
            WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN TRY_CAST("time" AS DOUBLE)
          END
        )
        WHEN MAX(
          CASE
            WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN TRY_CAST("time" AS DOUBLE)
          END
        ) < 0.0e0
        THEN 0.0e0
        WHEN MAX(
          CASE
            WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN TRY_CAST("time" AS DOUBLE)
          END
        ) <= CAST('Infinity' AS DOUBLE)
        THEN 120.0e0
      END
    ) * 1024.0e0 AS BIGINT),
    0
  ) AS "m1"
FROM "t";

-- values: SELECT MAX(time + age) AS most FROM t
-- MAX(time + age): one person moves it by at most |age − age'| + |time − time'|, at most 220
SELECT
  GREATEST(
    MAX(
      CAST((
        (
          CASE
            WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
            THEN TRY_CAST("time" AS DOUBLE)
            WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
            THEN 0.0e0
            WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 120.0e0
          END + CASE
            WHEN TRY_CAST("age" AS DOUBLE) BETWEEN 0.0e0 AND 100.0e0
            THEN TRY_CAST("age" AS DOUBLE)
            WHEN TRY_CAST("age" AS DOUBLE) < 0.0e0
            THEN 0.0e0
            WHEN TRY_CAST("age" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 100.0e0
          END
        )
      ) * 1024.0e0 AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";

-- values: SELECT MIN((POINT(lon, lat) <@> POINT(3, 4)) / speed) AS soonest FROM t
-- MIN((POINT(lon, lat) <@> POINT(3, 4)) / speed): one person moves it by at most 0.05·|lat − lat'| + 0.05·|lon − lon'|, at most 10.2866
SELECT
  LEAST(
    MIN(
      CAST((
        (
          SQRT(
            (
              (
                CASE
                  WHEN TRY_CAST("lon" AS DOUBLE) BETWEEN -180.0e0 AND 180.0e0
                  THEN TRY_CAST("lon" AS DOUBLE)
                  WHEN TRY_CAST("lon" AS DOUBLE) < -180.0e0
                  THEN -180.0e0
                  WHEN TRY_CAST("lon" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
                  THEN 180.0e0
                  ELSE -180.0e0
                END - 3.0e0
              ) * (
                CASE
                  WHEN TRY_CAST("lon" AS DOUBLE) BETWEEN -180.0e0 AND 180.0e0
                  THEN TRY_CAST("lon" AS DOUBLE)
                  WHEN TRY_CAST("lon" AS DOUBLE) < -180.0e0
                  THEN -180.0e0
                  WHEN TRY_CAST("lon" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
                  THEN 180.0e0
                  ELSE -180.0e0
                END - 3.0e0
              )
            ) + (
              (
                CASE
                  WHEN TRY_CAST("lat" AS DOUBLE) BETWEEN -90.0e0 AND 90.0e0
                  THEN TRY_CAST("lat" AS DOUBLE)
                  WHEN TRY_CAST("lat" AS DOUBLE) < -90.0e0
                  THEN -90.0e0
                  WHEN TRY_CAST("lat" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
                  THEN 90.0e0
                  ELSE -90.0e0
                END - 4.0e0
              ) * (
                CASE
                  WHEN TRY_CAST("lat" AS DOUBLE) BETWEEN -90.0e0 AND 90.0e0
                  THEN TRY_CAST("lat" AS DOUBLE)
                  WHEN TRY_CAST("lat" AS DOUBLE) < -90.0e0
                  THEN -90.0e0
                  WHEN TRY_CAST("lat" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
                  THEN 90.0e0
                  ELSE -90.0e0
                END - 4.0e0
              )
            )
          ) / CAST(CASE
            WHEN TRY_CAST("speed" AS DOUBLE) BETWEEN 20.0e0 AND 90.0e0
            THEN TRY_CAST("speed" AS DOUBLE)
            WHEN TRY_CAST("speed" AS DOUBLE) < 20.0e0
            THEN 20.0e0
            WHEN TRY_CAST("speed" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
            THEN 90.0e0
            ELSE 20.0e0
          END AS DOUBLE)
        )
      ) * 1024.0e0 AS BIGINT)
    ),
    10533
  ) AS "m0"
FROM "t";
