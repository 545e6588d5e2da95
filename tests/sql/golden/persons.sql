-- persons: SELECT COUNT(*) AS meals, COUNT(DISTINCT card) AS people FROM t WHERE time > 30
-- COUNT(*): adding or removing one person moves it by at most 3, changing one by at most 3
-- COUNT(DISTINCT card): adding or removing one person moves it by at most 1, changing one by at most 1
SELECT
  COALESCE(SUM(CAST("gp_cells"."v0" AS BIGINT)), 0) AS "m0",
  COALESCE(SUM(CAST("gp_cells"."v1" AS BIGINT)), 0) AS "m1"
FROM (
  SELECT
    "card" COLLATE C AS "gp_unit",
    LEAST(COUNT(*), 3) AS "v0",
    LEAST(COUNT(*), 1) AS "v1"
  FROM "t"
  WHERE
    (
      TRY_CAST("time" AS DOUBLE) > 30.0e0
      AND TRY_CAST("time" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
    )
    AND NOT "card" COLLATE C IS NULL
  GROUP BY
    "card" COLLATE C
) AS "gp_cells";

-- persons: SELECT SUM(lat) AS total, AVG(salary) AS mean, MAX(time) AS most FROM t
-- SUM(lat): adding or removing one person moves it by at most 270, changing one by at most 540
-- weighted SUM(salary - 2500): adding or removing one person moves it by at most 4500, changing one by at most 9000
-- weighted COUNT(salary): adding or removing one person moves it by at most 3, changing one by at most 3
-- MAX(time): adding or removing one person moves it by at most 120, changing one by at most 120
SELECT
  COALESCE(SUM(CAST("gp_cells"."v0" AS BIGINT)), 0) AS "m0",
  COALESCE(
    SUM(
      CAST(CASE
        WHEN CAST("gp_cells"."gp_rows" AS INT128) > 3
        THEN (
          CAST("gp_cells"."v1" AS INT128) * 3
        ) // CAST("gp_cells"."gp_rows" AS INT128)
        ELSE "gp_cells"."v1"
      END AS BIGINT)
    ),
    0
  ) AS "m1",
  COALESCE(
    SUM(
      CAST(CASE
        WHEN CAST("gp_cells"."gp_rows" AS INT128) > 3
        THEN (
          CAST("gp_cells"."v2" AS INT128) * 3
        ) // CAST("gp_cells"."gp_rows" AS INT128)
        ELSE "gp_cells"."v2"
      END AS BIGINT)
    ),
    0
  ) AS "m2",
  GREATEST(MAX("gp_cells"."v3"), 0) AS "m3"
FROM (
  SELECT
    "card" COLLATE C AS "gp_unit",
    GREATEST(
      LEAST(
        COALESCE(
          SUM(
            CAST((
              CASE
                WHEN TRY_CAST("lat" AS DOUBLE) BETWEEN -90.0e0 AND 90.0e0
                THEN TRY_CAST("lat" AS DOUBLE)
                WHEN TRY_CAST("lat" AS DOUBLE) < -90.0e0
                THEN -90.0e0
                WHEN TRY_CAST("lat" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
                THEN 90.0e0
              END
            ) * 1024.0e0 AS BIGINT)
          ),
          0
        ),
        276480
      ),
      -276480
    ) AS "v0",
    GREATEST(
      CAST(LEAST(
        CAST(COALESCE(
          SUM(
            CAST((
              (
                CASE
                  WHEN TRY_CAST("salary" AS DOUBLE) BETWEEN 1000.0e0 AND 4000.0e0
                  THEN TRY_CAST("salary" AS DOUBLE)
                  WHEN TRY_CAST("salary" AS DOUBLE) < 1000.0e0
                  THEN 1000.0e0
                  WHEN TRY_CAST("salary" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
                  THEN 4000.0e0
                END - 2500.0e0
              )
            ) * 1024.0e0 AS BIGINT)
          ),
          0
        ) AS INT128),
        CAST(COUNT(*) AS INT128) * 1536000,
        CAST(33333333333333333333333333333333333332 AS INT128)
      ) AS INT128),
      CAST(COUNT(*) AS INT128) * -1536000,
      CAST(-33333333333333333333333333333333333332 AS INT128)
    ) AS "v1",
    CAST(COUNT(CASE WHEN TRY_CAST("salary" AS DOUBLE) <= CAST('Infinity' AS DOUBLE) THEN 1 END) AS INT128) * 1024 AS "v2",
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
    ) AS "v3",
    COUNT(*) AS "gp_rows"
  FROM "t"
  WHERE
    NOT "card" COLLATE C IS NULL
  GROUP BY
    "card" COLLATE C
) AS "gp_cells";

-- persons: SELECT faculty, COUNT(*) AS meals, SUM(lat) AS total FROM t GROUP BY faculty
-- COUNT(*): adding or removing one person moves it by at most 3, changing one by at most 6
-- SUM(lat): adding or removing one person moves it by at most 270, changing one by at most 540
WITH "gp_cells" AS MATERIALIZED (
  SELECT
    "card" COLLATE C AS "gp_unit",
    "faculty" COLLATE C AS "k0",
    CAST(COUNT(*) AS INT128) * 1024 AS "v0",
    LEAST(
      GREATEST(
        COALESCE(
          SUM(
            CAST((
              CASE
                WHEN TRY_CAST("lat" AS DOUBLE) BETWEEN -90.0e0 AND 90.0e0
                THEN TRY_CAST("lat" AS DOUBLE)
                WHEN TRY_CAST("lat" AS DOUBLE) < -90.0e0
                THEN -90.0e0
                WHEN TRY_CAST("lat" AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
                THEN 90.0e0
              END
            ) * 1024.0e0 AS BIGINT)
          ),
          0
        ),
        -4722366482869645213696
      ),
      4722366482869645213696
    ) AS "v1"
  FROM "t"
  WHERE
    "faculty" COLLATE C IN ('math', 'law') AND NOT "card" COLLATE C IS NULL
  GROUP BY
    "card" COLLATE C,
    "faculty" COLLATE C
), "gp_over" AS (
  SELECT
    "gp_unit",
    SUM(ABS("v0")) AS "t0",
    SUM(ABS("v1")) AS "t1"
  FROM "gp_cells"
  GROUP BY
    "gp_unit"
  HAVING
    SUM(ABS("v0")) > 3072 OR SUM(ABS("v1")) > 276480
)
SELECT
  "gp_cells"."k0" AS "faculty",
  COALESCE(
    SUM(
      CAST(CASE
        WHEN "gp_over"."t0" > 3072
        THEN (
          CAST("gp_cells"."v0" AS INT128) * 3072
        ) // "gp_over"."t0"
        ELSE "gp_cells"."v0"
      END AS BIGINT)
    ),
    0
  ) AS "m0",
  COALESCE(
    SUM(
      CAST(CASE
        WHEN "gp_over"."t1" > 276480
        THEN (
          CAST("gp_cells"."v1" AS INT128) * 276480
        ) // "gp_over"."t1"
        ELSE "gp_cells"."v1"
      END AS BIGINT)
    ),
    0
  ) AS "m1"
FROM "gp_cells" AS "gp_cells"
LEFT JOIN "gp_over"
  ON "gp_cells"."gp_unit" = "gp_over"."gp_unit"
GROUP BY
  "gp_cells"."k0";

-- persons: SELECT faculty, COUNT(DISTINCT card) AS people, MIN(age) AS least FROM t GROUP BY faculty
-- COUNT(DISTINCT card): adding or removing one person moves it by at most 1, changing one by at most 2
-- MIN(age): adding or removing one person moves it by at most 100, changing one by at most 200
WITH "gp_cells" AS MATERIALIZED (
  SELECT
    "card" COLLATE C AS "gp_unit",
    "faculty" COLLATE C AS "k0",
    LEAST(COUNT(*), 1) AS "v0",
    LEAST(
      CAST((
        CASE
          WHEN MIN(TRY_CAST("age" AS DOUBLE)) BETWEEN 0.0e0 AND 100.0e0
          THEN MIN(TRY_CAST("age" AS DOUBLE))
          WHEN MIN(TRY_CAST("age" AS DOUBLE)) < 0.0e0
          THEN 0.0e0
          WHEN MIN(TRY_CAST("age" AS DOUBLE)) <= CAST('Infinity' AS DOUBLE)
          THEN 100.0e0
        END
      ) * 1024.0e0 AS BIGINT),
      102400
    ) AS "v1",
    COUNT(*) AS "gp_rows"
  FROM "t"
  WHERE
    "faculty" COLLATE C IN ('math', 'law') AND NOT "card" COLLATE C IS NULL
  GROUP BY
    "card" COLLATE C,
    "faculty" COLLATE C
), "gp_kept" AS NOT MATERIALIZED (
  SELECT
    *
  FROM (
    SELECT
      *,
      ROW_NUMBER() OVER (PARTITION BY "gp_unit" ORDER BY "gp_rows" DESC, "k0") AS "gp_place"
    FROM "gp_cells"
  ) AS "gp_placed"
  WHERE
    "gp_place" <= 1
)
SELECT
  "gp_cells"."k0" AS "faculty",
  COALESCE(SUM(CAST("gp_cells"."v0" AS BIGINT)), 0) AS "m0",
  LEAST(MIN("gp_cells"."v1"), 102400) AS "m1"
FROM "gp_kept" AS "gp_cells"
GROUP BY
  "gp_cells"."k0";
