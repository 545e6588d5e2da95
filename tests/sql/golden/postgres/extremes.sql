-- values: SELECT MIN(time) AS least, MAX(time) AS most FROM t
-- MIN(time): one person moves it by at most |x − x'|, at most 120
-- MAX(time): one person moves it by at most |x − x'|, at most 120
SELECT
  LEAST(
    CAST((
      CASE
        WHEN MIN("time") BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
        THEN MIN("time")
        WHEN MIN("time") < CAST('0.0' AS DOUBLE PRECISION)
        THEN CAST('0.0' AS DOUBLE PRECISION)
        WHEN MIN("time") <= CAST('Infinity' AS DOUBLE PRECISION)
        THEN CAST('120.0' AS DOUBLE PRECISION)
      END
    ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT),
    122880
  ) AS "m0",
  GREATEST(
    CAST((
      CASE
        WHEN MAX(CASE WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION) THEN "time" END) BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
        THEN MAX(CASE WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION) THEN "time" END)
        WHEN MAX(CASE WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION) THEN "time" END) < CAST('0.0' AS DOUBLE PRECISION)
        THEN CAST('0.0' AS DOUBLE PRECISION)
        WHEN MAX(CASE WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION) THEN "time" END) <= CAST('Infinity' AS DOUBLE PRECISION)
        THEN CAST('120.0' AS DOUBLE PRECISION)
      END
    ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT),
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
            WHEN "time" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('120.0' AS DOUBLE PRECISION)
            THEN "time"
            WHEN "time" < CAST('0.0' AS DOUBLE PRECISION)
            THEN CAST('0.0' AS DOUBLE PRECISION)
            WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('120.0' AS DOUBLE PRECISION)
          END + CASE
            WHEN "age" BETWEEN CAST('0.0' AS DOUBLE PRECISION) AND CAST('100.0' AS DOUBLE PRECISION)
            THEN "age"
            WHEN "age" < CAST('0.0' AS DOUBLE PRECISION)
            THEN CAST('0.0' AS DOUBLE PRECISION)
            WHEN "age" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('100.0' AS DOUBLE PRECISION)
          END
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
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
          (
            (
              (
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
              ) + CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
            ) - CAST('2.7516420536594796e-135' AS DOUBLE PRECISION)
          ) / CAST(CASE
            WHEN "speed" BETWEEN CAST('20.0' AS DOUBLE PRECISION) AND CAST('90.0' AS DOUBLE PRECISION)
            THEN "speed"
            WHEN "speed" < CAST('20.0' AS DOUBLE PRECISION)
            THEN CAST('20.0' AS DOUBLE PRECISION)
            WHEN "speed" <= CAST('Infinity' AS DOUBLE PRECISION)
            THEN CAST('90.0' AS DOUBLE PRECISION)
            ELSE CAST('20.0' AS DOUBLE PRECISION)
          END AS DOUBLE PRECISION)
        )
      ) * CAST('1024.0' AS DOUBLE PRECISION) AS BIGINT)
    ),
    10533
  ) AS "m0"
FROM "t";
