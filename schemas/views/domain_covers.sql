-- Whether a hostname is of a domain
-- The domain itself or one below it; `*` and `?` in a domain stand for any letters and for one. A
-- passage without a hostname is of no domain.
-- parameters: domain, hostname
coalesce(
    hostname = domain OR ends_with(hostname, '.' || domain)
    OR (
        (contains(domain, '*') OR contains(domain, '?'))
        AND (hostname GLOB domain OR hostname GLOB '*.' || domain)
    ),
    false
)
