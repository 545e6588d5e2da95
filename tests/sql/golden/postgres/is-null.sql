-- values: SELECT COUNT(*) FROM t WHERE time IS NOT NULL
-- COUNT(*): one person moves it by at most 1, when a value goes missing
SELECT
  COUNT(*) AS "m0"
FROM "t"
WHERE
  NOT (
    (
      CASE WHEN "time" <= CAST('Infinity' AS DOUBLE PRECISION) THEN "time" END
    ) IS NULL
  );
