-- values: SELECT MIN(POINT(lon, lat) <@> POINT(3, 4)) FROM t
-- MIN(POINT(lon, lat) <@> POINT(3, 4)): one person moves it by at most |lat − lat'| + |lon − lon'|, at most 205.731
SELECT
  LEAST(
    MIN(
      CAST((
        SQRT(
          (
            (
              (
                (
                  (
                    CASE
                      WHEN "lon" BETWEEN CAST('-180.0' AS DOUBLE PRECISION) AND CAST('180.0' AS DOUBLE PRECISION)
                      THEN "lon"
                      WHEN "lon" < CAST('-180.0' AS DOUBLE PRECISION)
                      THEN CAST('-180.0' AS DOUBLE PRECISION)
                      WHEN "lon" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('180.0' AS DOUBLE PRECISION)
                      ELSE CAST('-180.0' AS DOUBLE PRECISION)
                    END - CAST('3.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) * (
              (
                (
                  (
                    CASE
                      WHEN "lon" BETWEEN CAST('-180.0' AS DOUBLE PRECISION) AND CAST('180.0' AS DOUBLE PRECISION)
                      THEN "lon"
                      WHEN "lon" < CAST('-180.0' AS DOUBLE PRECISION)
                      THEN CAST('-180.0' AS DOUBLE PRECISION)
                      WHEN "lon" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('180.0' AS DOUBLE PRECISION)
                      ELSE CAST('-180.0' AS DOUBLE PRECISION)
                    END - CAST('3.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            )
          ) + (
            (
              (
                (
                  (
                    CASE
                      WHEN "lat" BETWEEN CAST('-90.0' AS DOUBLE PRECISION) AND CAST('90.0' AS DOUBLE PRECISION)
                      THEN "lat"
                      WHEN "lat" < CAST('-90.0' AS DOUBLE PRECISION)
                      THEN CAST('-90.0' AS DOUBLE PRECISION)
                      WHEN "lat" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('90.0' AS DOUBLE PRECISION)
                      ELSE CAST('-90.0' AS DOUBLE PRECISION)
                    END - CAST('4.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) * (
              (
                (
                  (
                    CASE
                      WHEN "lat" BETWEEN CAST('-90.0' AS DOUBLE PRECISION) AND CAST('90.0' AS DOUBLE PRECISION)
                      THEN "lat"
                      WHEN "lat" < CAST('-90.0' AS DOUBLE PRECISION)
                      THEN CAST('-90.0' AS DOUBLE PRECISION)
                      WHEN "lat" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('90.0' AS DOUBLE PRECISION)
                      ELSE CAST('-90.0' AS DOUBLE PRECISION)
                    END - CAST('4.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            )
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    210668
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
              (
                (
                  (
                    CASE
                      WHEN "lon" BETWEEN CAST('-180.0' AS DOUBLE PRECISION) AND CAST('180.0' AS DOUBLE PRECISION)
                      THEN "lon"
                      WHEN "lon" < CAST('-180.0' AS DOUBLE PRECISION)
                      THEN CAST('-180.0' AS DOUBLE PRECISION)
                      WHEN "lon" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('180.0' AS DOUBLE PRECISION)
                      ELSE CAST('-180.0' AS DOUBLE PRECISION)
                    END - CAST('3.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) * (
              (
                (
                  (
                    CASE
                      WHEN "lon" BETWEEN CAST('-180.0' AS DOUBLE PRECISION) AND CAST('180.0' AS DOUBLE PRECISION)
                      THEN "lon"
                      WHEN "lon" < CAST('-180.0' AS DOUBLE PRECISION)
                      THEN CAST('-180.0' AS DOUBLE PRECISION)
                      WHEN "lon" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('180.0' AS DOUBLE PRECISION)
                      ELSE CAST('-180.0' AS DOUBLE PRECISION)
                    END - CAST('3.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            )
          ) + (
            (
              (
                (
                  (
                    CASE
                      WHEN "lat" BETWEEN CAST('-90.0' AS DOUBLE PRECISION) AND CAST('90.0' AS DOUBLE PRECISION)
                      THEN "lat"
                      WHEN "lat" < CAST('-90.0' AS DOUBLE PRECISION)
                      THEN CAST('-90.0' AS DOUBLE PRECISION)
                      WHEN "lat" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('90.0' AS DOUBLE PRECISION)
                      ELSE CAST('-90.0' AS DOUBLE PRECISION)
                    END - CAST('4.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) * (
              (
                (
                  (
                    CASE
                      WHEN "lat" BETWEEN CAST('-90.0' AS DOUBLE PRECISION) AND CAST('90.0' AS DOUBLE PRECISION)
                      THEN "lat"
                      WHEN "lat" < CAST('-90.0' AS DOUBLE PRECISION)
                      THEN CAST('-90.0' AS DOUBLE PRECISION)
                      WHEN "lat" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('90.0' AS DOUBLE PRECISION)
                      ELSE CAST('-90.0' AS DOUBLE PRECISION)
                    END - CAST('4.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            )
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
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
              (
                (
                  (
                    CASE
                      WHEN "lon" BETWEEN CAST('-180.0' AS DOUBLE PRECISION) AND CAST('180.0' AS DOUBLE PRECISION)
                      THEN "lon"
                      WHEN "lon" < CAST('-180.0' AS DOUBLE PRECISION)
                      THEN CAST('-180.0' AS DOUBLE PRECISION)
                      WHEN "lon" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('180.0' AS DOUBLE PRECISION)
                      ELSE CAST('-180.0' AS DOUBLE PRECISION)
                    END - CAST('3.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) * (
              (
                (
                  (
                    CASE
                      WHEN "lon" BETWEEN CAST('-180.0' AS DOUBLE PRECISION) AND CAST('180.0' AS DOUBLE PRECISION)
                      THEN "lon"
                      WHEN "lon" < CAST('-180.0' AS DOUBLE PRECISION)
                      THEN CAST('-180.0' AS DOUBLE PRECISION)
                      WHEN "lon" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('180.0' AS DOUBLE PRECISION)
                      ELSE CAST('-180.0' AS DOUBLE PRECISION)
                    END - CAST('3.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            )
          ) + (
            (
              (
                (
                  (
                    CASE
                      WHEN "lat" BETWEEN CAST('-90.0' AS DOUBLE PRECISION) AND CAST('90.0' AS DOUBLE PRECISION)
                      THEN "lat"
                      WHEN "lat" < CAST('-90.0' AS DOUBLE PRECISION)
                      THEN CAST('-90.0' AS DOUBLE PRECISION)
                      WHEN "lat" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('90.0' AS DOUBLE PRECISION)
                      ELSE CAST('-90.0' AS DOUBLE PRECISION)
                    END - CAST('4.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) * (
              (
                (
                  (
                    CASE
                      WHEN "lat" BETWEEN CAST('-90.0' AS DOUBLE PRECISION) AND CAST('90.0' AS DOUBLE PRECISION)
                      THEN "lat"
                      WHEN "lat" < CAST('-90.0' AS DOUBLE PRECISION)
                      THEN CAST('-90.0' AS DOUBLE PRECISION)
                      WHEN "lat" <= CAST('Infinity' AS DOUBLE PRECISION)
                      THEN CAST('90.0' AS DOUBLE PRECISION)
                      ELSE CAST('-90.0' AS DOUBLE PRECISION)
                    END - CAST('4.0' AS DOUBLE PRECISION)
                  )
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            )
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
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
            (
              (
                (
                  CASE
                    WHEN "lon" BETWEEN CAST('-180.0' AS DOUBLE PRECISION) AND CAST('180.0' AS DOUBLE PRECISION)
                    THEN "lon"
                    WHEN "lon" < CAST('-180.0' AS DOUBLE PRECISION)
                    THEN CAST('-180.0' AS DOUBLE PRECISION)
                    WHEN "lon" <= CAST('Infinity' AS DOUBLE PRECISION)
                    THEN CAST('180.0' AS DOUBLE PRECISION)
                    ELSE CAST('-180.0' AS DOUBLE PRECISION)
                  END
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) * (
              (
                (
                  CASE
                    WHEN "lon" BETWEEN CAST('-180.0' AS DOUBLE PRECISION) AND CAST('180.0' AS DOUBLE PRECISION)
                    THEN "lon"
                    WHEN "lon" < CAST('-180.0' AS DOUBLE PRECISION)
                    THEN CAST('-180.0' AS DOUBLE PRECISION)
                    WHEN "lon" <= CAST('Infinity' AS DOUBLE PRECISION)
                    THEN CAST('180.0' AS DOUBLE PRECISION)
                    ELSE CAST('-180.0' AS DOUBLE PRECISION)
                  END
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            )
          ) + (
            (
              (
                (
                  CASE
                    WHEN "lat" BETWEEN CAST('-90.0' AS DOUBLE PRECISION) AND CAST('90.0' AS DOUBLE PRECISION)
                    THEN "lat"
                    WHEN "lat" < CAST('-90.0' AS DOUBLE PRECISION)
                    THEN CAST('-90.0' AS DOUBLE PRECISION)
                    WHEN "lat" <= CAST('Infinity' AS DOUBLE PRECISION)
                    THEN CAST('90.0' AS DOUBLE PRECISION)
                    ELSE CAST('-90.0' AS DOUBLE PRECISION)
                  END
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) * (
              (
                (
                  CASE
                    WHEN "lat" BETWEEN CAST('-90.0' AS DOUBLE PRECISION) AND CAST('90.0' AS DOUBLE PRECISION)
                    THEN "lat"
                    WHEN "lat" < CAST('-90.0' AS DOUBLE PRECISION)
                    THEN CAST('-90.0' AS DOUBLE PRECISION)
                    WHEN "lat" <= CAST('Infinity' AS DOUBLE PRECISION)
                    THEN CAST('90.0' AS DOUBLE PRECISION)
                    ELSE CAST('-90.0' AS DOUBLE PRECISION)
                  END
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            )
          ) + (
            (
              (
                (
                  CASE
                    WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
                    THEN "time"
                    WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
                    THEN CAST('0.0' AS DOUBLE PRECISION)
                    WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
                    THEN CAST('120.0' AS DOUBLE PRECISION)
                  END
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) * (
              (
                (
                  CASE
                    WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
                    THEN "time"
                    WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
                    THEN CAST('0.0' AS DOUBLE PRECISION)
                    WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
                    THEN CAST('120.0' AS DOUBLE PRECISION)
                  END
                ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
              ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            )
          )
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    0
  ) AS "m0"
FROM "t";
