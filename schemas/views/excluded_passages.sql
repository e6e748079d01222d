-- Passages that a question leaves out
-- Those named, those of the categories and hosts to exclude, and all others where some are to be
-- included. A passage without a category counts as `other`; one without a hostname is of no domain.
-- A domain covers its subdomains and may have wildcards (`*.gov`), as in a run's own flags. NULL
-- instead of a list restricts nothing.
-- needs: domain_covers
-- parameters: without_passages, without_categories, only_categories, without_domains, only_domains
SELECT
    run,
    passage_id
FROM passages
WHERE
    list_contains(without_passages, passage_id)
    OR list_contains(without_categories, coalesce(source_category, 'other'))
    OR NOT list_contains(only_categories, coalesce(source_category, 'other'))
    OR len(list_filter(without_domains, lambda d: domain_covers(d, hostname))) > 0
    OR len(list_filter(only_domains, lambda d: domain_covers(d, hostname))) = 0
