-- values: SELECT MIN(POINT(lon, lat) <@> POINT(3, 4)) FROM t
-- MIN(POINT(lon, lat) <@> POINT(3, 4)): one person moves it by at most |lat − lat'| + |lon − lon'|, at most 205.731
SELECT
  LEAST(
    MIN(
      CAST((
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
        )
      ) * 1024.0e0 AS BIGINT)
    ),
    210668
  ) AS "m0"
FROM "t";

-- values: SELECT MIN((POINT(lon, lat) <@> (0, 0)) * 2) FROM t
-- MIN((POINT(lon, lat) <@> (0, 0)) * 2): one person moves it by at most 2·|lat − lat'| + 2·|lon − lon'|, at most 402.493
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
                END - 0.0e0
              ) * (
                CASE
                  WHEN TRY_CAST("lon" AS DOUBLE) BETWEEN -180.0e0 AND 180.0e0
                  THEN TRY_CAST("lon" AS DOUBLE)
                  WHEN TRY_CAST("lon" AS DOUBLE) < -180.0e0
                  THEN -180.0e0
                  WHEN TRY_CAST("lon" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
                  THEN 180.0e0
                  ELSE -180.0e0
                END - 0.0e0
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
                END - 0.0e0
              ) * (
                CASE
                  WHEN TRY_CAST("lat" AS DOUBLE) BETWEEN -90.0e0 AND 90.0e0
                  THEN TRY_CAST("lat" AS DOUBLE)
                  WHEN TRY_CAST("lat" AS DOUBLE) < -90.0e0
                  THEN -90.0e0
                  WHEN TRY_CAST("lat" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
                  THEN 90.0e0
                  ELSE -90.0e0
                END - 0.0e0
              )
            )
          ) * 2.0e0
        )
      ) * 1024.0e0 AS BIGINT)
    ),
    412152
  ) AS "m0"
FROM "t";

-- values: SELECT MIN(SQRT(POWER(lon - 3, 2) + POWER(lat - 4, 2))) FROM t
-- MIN(SQRT(POWER(lon - 3, 2) + POWER(lat - 4, 2))): one person moves it by at most |lat − lat'| + |lon − lon'|, at most 205.731
SELECT
  LEAST(
    MIN(
      CAST((
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
        )
      ) * 1024.0e0 AS BIGINT)
    ),
    210668
  ) AS "m0"
FROM "t";

-- values: SELECT MIN(((lon - 3)^2 + (lat - 4)^2)^0.5) FROM t
-- MIN(POWER((POWER((lon - 3), 2) + POWER((lat - 4), 2)), 0.5)): one person moves it by at most |lat − lat'| + |lon − lon'|, at most 205.731
SELECT
  LEAST(
    MIN(
      CAST((
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
        )
      ) * 1024.0e0 AS BIGINT)
    ),
    210668
  ) AS "m0"
FROM "t";

-- values: SELECT MAX(SQRT(lon^2 + lat^2 + time^2)) FROM t
-- MAX(SQRT(POWER(lon, 2) + POWER(lat, 2) + POWER(time, 2))): one person moves it by at most |lat − lat'| + |lon − lon'| + |time − time'|, at most 234.308
SELECT
  GREATEST(
    MAX(
      CAST((
        SQRT(
          (
            CASE
              WHEN TRY_CAST("lon" AS DOUBLE) BETWEEN -180.0e0 AND 180.0e0
              THEN TRY_CAST("lon" AS DOUBLE)
              WHEN TRY_CAST("lon" AS DOUBLE) < -180.0e0
              THEN -180.0e0
              WHEN TRY_CAST("lon" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
              THEN 180.0e0
              ELSE -180.0e0
            END * CASE
              WHEN TRY_CAST("lon" AS DOUBLE) BETWEEN -180.0e0 AND 180.0e0
              THEN TRY_CAST("lon" AS DOUBLE)
              WHEN TRY_CAST("lon" AS DOUBLE) < -180.0e0
              THEN -180.0e0
              WHEN TRY_CAST("lon" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
              THEN 180.0e0
              ELSE -180.0e0
            END
          ) + (
            CASE
              WHEN TRY_CAST("lat" AS DOUBLE) BETWEEN -90.0e0 AND 90.0e0
              THEN TRY_CAST("lat" AS DOUBLE)
              WHEN TRY_CAST("lat" AS DOUBLE) < -90.0e0
              THEN -90.0e0
              WHEN TRY_CAST("lat" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
              THEN 90.0e0
              ELSE -90.0e0
            END * CASE
              WHEN TRY_CAST("lat" AS DOUBLE) BETWEEN -90.0e0 AND 90.0e0
              THEN TRY_CAST("lat" AS DOUBLE)
              WHEN TRY_CAST("lat" AS DOUBLE) < -90.0e0
              THEN -90.0e0
              WHEN TRY_CAST("lat" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
              THEN 90.0e0
              ELSE -90.0e0
            END
          ) + (
            CASE
              WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
              THEN TRY_CAST("time" AS DOUBLE)
              WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
              THEN 0.0e0
              WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END * CASE
              WHEN TRY_CAST("time" AS DOUBLE) BETWEEN 0.0e0 AND 120.0e0
              THEN TRY_CAST("time" AS DOUBLE)
              WHEN TRY_CAST("time" AS DOUBLE) < 0.0e0
              THEN 0.0e0
              WHEN TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
              THEN 120.0e0
            END
          )
        )
      ) * 1024.0e0 AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
