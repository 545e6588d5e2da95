-- values: SELECT income, COUNT(*) AS n FROM t GROUP BY income
-- COUNT(*): one person moves it by at most 2, in both groups together, when income changes
SELECT
  CASE
    WHEN `income` < 10000.0e0
    THEN 0
    ELSE CASE WHEN `income` < 20000.0e0 THEN 1 ELSE 2 END
  END AS `income`,
  COUNT(*) AS `m0`
FROM `t`
WHERE
  `income` BETWEEN 0.0e0 AND 50000.0e0
GROUP BY
  CASE
    WHEN `income` < 10000.0e0
    THEN 0
    ELSE CASE WHEN `income` < 20000.0e0 THEN 1 ELSE 2 END
  END;

-- records: SELECT income, SUM(income) AS total FROM t WHERE smoker GROUP BY income ORDER BY income
-- SUM(income): adding or removing one record moves it by at most 50000, changing one by at most 100000
SELECT
  CASE
    WHEN `income` < 10000.0e0
    THEN 0
    ELSE CASE WHEN `income` < 20000.0e0 THEN 1 ELSE 2 END
  END AS `income`,
  COALESCE(
    SUM(
      CAST(CAST(RINT(
        (
          CASE
            WHEN `income` BETWEEN 0.0e0 AND 90000.0e0
            THEN `income`
            WHEN `income` < 0.0e0
            THEN 0.0e0
            WHEN `income` <= CAST('Infinity' AS DOUBLE)
            THEN 90000.0e0
          END
        ) * 1024.0e0
      ) AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `t`
WHERE
  `smoker` = 'true' AND `income` BETWEEN 0.0e0 AND 50000.0e0
GROUP BY
  CASE
    WHEN `income` < 10000.0e0
    THEN 0
    ELSE CASE WHEN `income` < 20000.0e0 THEN 1 ELSE 2 END
  END;

-- persons: SELECT income, COUNT(*) AS n FROM t GROUP BY income
-- COUNT(*): adding or removing one person moves it by at most 3, changing one by at most 6
WITH `gp_cells` AS (
  SELECT
    `card` AS `gp_unit`,
    CASE
      WHEN `income` < 10000.0e0
      THEN 0
      ELSE CASE WHEN `income` < 20000.0e0 THEN 1 ELSE 2 END
    END AS `k0`,
    CAST(COUNT(*) AS DECIMAL(38, 0)) * 1024 AS `v0`
  FROM `t`
  WHERE
    `income` BETWEEN 0.0e0 AND 50000.0e0 AND NOT `card` IS NULL
  GROUP BY
    `card`,
    CASE
      WHEN `income` < 10000.0e0
      THEN 0
      ELSE CASE WHEN `income` < 20000.0e0 THEN 1 ELSE 2 END
    END
), `gp_over` AS (
  SELECT
    `gp_unit`,
    SUM(ABS(`v0`)) AS `t0`
  FROM `gp_cells`
  GROUP BY
    `gp_unit`
  HAVING
    SUM(ABS(`v0`)) > 3072
)
SELECT
  `gp_cells`.`k0` AS `income`,
  COALESCE(
    SUM(
      CAST(CAST(CASE
        WHEN `gp_over`.`t0` > 3072
        THEN (
          CAST(`gp_cells`.`v0` AS DECIMAL(38, 0)) * 3072
        ) DIV `gp_over`.`t0`
        ELSE `gp_cells`.`v0`
      END AS BIGINT) AS DECIMAL(38, 0))
    ),
    0
  ) AS `m0`
FROM `gp_cells` AS `gp_cells`
LEFT JOIN `gp_over`
  ON `gp_cells`.`gp_unit` = `gp_over`.`gp_unit`
GROUP BY
  `gp_cells`.`k0`;
