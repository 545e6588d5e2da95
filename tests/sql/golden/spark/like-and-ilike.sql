-- values: SELECT COUNT(*) FROM t WHERE colour LIKE 'b%'
-- COUNT(*): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  `colour` IN ('black', 'brown');

-- values: SELECT COUNT(*) FROM t WHERE colour NOT ILIKE 'B%'
-- COUNT(*): one person moves it by at most 1, when colour changes the outcome of a test
SELECT
  COUNT(*) AS `m0`
FROM `t`
WHERE
  NOT (
    `colour` IN ('black', 'brown')
  );
