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
