"""Makers' token shapes, from their public documentation: data alone.

Each entry is a kind, its literals, and what follows a literal. A literal alone has the shape of no
token, so that this file passes the guard.
"""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    """A maker's token.

    Attributes:
        literals: it begins with one of them.
        body: a regular expression of what follows, in letters, digits and `_.~-`.
        check: crc32 where the maker ends the token in one.
        tail: whether base 64 characters (`+/=`) may follow.
    """

    kind: str
    literals: tuple[str, ...]
    body: str
    check: str = ""
    tail: bool = False


_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_B62 = "[A-Za-z0-9]"
_URL = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"

SHAPES = (
    Shape("adafruit", ("aio_",), f"{_B62}{{28}}"),
    Shape("adobe", ("p8e-", "p8"), f"{_B62}{{32}}"),
    Shape("age", ("AGE-SECRET-KEY-1",), "[AC-HJ-NP-Z02-9]{58}"),
    Shape("airtable", ("pat",), f"{_B62}{{14}}\\.{_HEX}{{64}}"),
    Shape("aiven", ("AVNS_",), f"{_URL}{{19,40}}"),
    Shape("alibaba", ("LTAI",), f"{_B62}{{12,26}}"),
    Shape("anthropic", ("sk-ant-",), f"[a-z0-9]{{3,12}}-{_URL}{{40,200}}"),
    Shape("apify", ("apify_api_", "apify_proxy_"), f"{_B62}{{30,44}}"),
    Shape("artifactory", ("AKCp", "cmVmd"), f"{_B62}{{58,80}}"),
    Shape(
        "atlassian",
        ("ATATT3", "ATCTT3", "ATBB", "ATSTT3", "ATOA", "ATTA"),
        f"{_URL}{{24,400}}",
        tail=True,
    ),
    Shape("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), "[A-Z0-9]{16}"),
    Shape("aws-bedrock", ("ABSK", "bedrock-api-key-"), f"{_B62}{{40,400}}", tail=True),
    Shape("aws-mws", ("amzn.mws.",), _UUID),
    Shape("azure-client-secret", ("Q~",), "[A-Za-z0-9_.~-]{31,34}"),
    Shape("brevo", ("xkeysib-", "xsmtpsib-"), f"{_HEX}{{64}}-{_B62}{{16}}"),
    Shape("buildkite", ("bkua_", "bkct_", "bkat_"), f"{_B62}{{40}}"),
    Shape("cerebras", ("csk-",), f"{_B62}{{40,60}}"),
    Shape("circleci", ("CCIPAT_", "CCIPRJ_"), f"{_B62}{{16,30}}_{_HEX}{{40}}"),
    Shape("clojars", ("CLOJARS_",), f"{_HEX}{{60}}"),
    Shape("cloudflare", ("v1.0-",), f"{_HEX}{{24}}-{_HEX}{{140,150}}"),
    Shape("cloudflare", ("cfut_", "cfat_", "cfk_"), f"{_B62}{{40,56}}"),
    Shape("contentful", ("CFPAT-",), f"{_URL}{{43}}"),
    Shape("crates-io", ("cio",), f"{_B62}{{32}}"),
    Shape("databricks", ("dapi", "dose", "dkea"), f"{_HEX}{{32}}(?:-[0-9])?"),
    Shape("dependency-track", ("odt_",), f"{_B62}{{32,50}}"),
    Shape("digitalocean", ("dop_v1_", "doo_v1_", "dor_v1_", "dosv1_"), f"{_HEX}{{64}}"),
    Shape("docker-hub", ("dckr_pat_", "dckr_oat_"), f"{_URL}{{27,36}}"),
    Shape(
        "doppler",
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
        f"(?:[a-z0-9_-]{{2,35}}\\.)?{_B62}{{40,44}}",
    ),
    Shape("dropbox", ("sl.",), f"(?:u\\.)?{_URL}{{130,1400}}"),
    Shape("duffel", ("duffel_test_", "duffel_live_"), f"{_URL}{{43}}"),
    Shape("dynatrace", ("dt0c01.", "dt0s01.", "dt0s02."), "[A-Z2-7]{8,24}\\.[A-Z2-7]{64}"),
    Shape("easypost", ("EZAK", "EZTK"), f"{_B62}{{54}}"),
    Shape("elevenlabs", ("sk_",), f"{_HEX}{{48}}"),
    Shape("facebook", ("EAAC", "EAAM", "EAAB", "EAAG", "EAAE"), f"{_B62}{{80,300}}"),
    Shape("figma", ("figd_", "figu_", "figo_"), f"{_URL}{{40,60}}"),
    Shape("firecrawl", ("fc-",), f"{_HEX}{{32}}"),
    Shape("flutterwave", ("FLWSECK-", "FLWSECK_TEST-", "FLWPUBK-"), "[0-9a-z]{12,40}-X"),
    Shape("fly-io", ("fo1_",), f"{_URL}{{43}}"),
    Shape("fly-io", ("fm1_", "fm1r_", "fm2_", "fm1a_"), f"{_URL}{{60,600}}", tail=True),
    Shape("frame-io", ("fio-u-",), f"{_URL}{{64}}"),
    Shape("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), f"{_B62}{{36}}", "crc32"),
    Shape("github", ("ghr_",), f"{_B62}{{76}}"),
    Shape("github-fine-grained", ("github_pat_",), f"{_B62}{{22}}_{_B62}{{59}}"),
    Shape(
        "gitlab",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glrtr-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glimt-",
            "glagent-",
            "glsoat-",
            "gloas-",
            "glffct-",
            "glwt-",
        ),
        f"(?:t[123]_)?{_URL}{{20,300}}(?:\\.[0-9a-z]{{2}}\\.?[0-9a-z]{{7,9}})?",
    ),
    Shape("gitlab", ("GR1348941",), f"{_URL}{{20}}"),
    Shape("gocardless", ("live_",), f"{_URL}{{40}}"),
    Shape("google-api-key", ("AIza",), f"{_URL}{{35}}"),
    Shape("google-api-key", ("AQ.Ab",), f"{_URL}{{40,80}}"),
    Shape("google-oauth", ("GOCSPX-",), f"{_URL}{{28}}"),
    Shape("google-oauth", ("ya29.",), "[A-Za-z0-9_.-]{30,1200}"),
    Shape("grafana", ("glc_",), f"{_B62}{{32,400}}", tail=True),
    Shape("grafana", ("glsa_",), f"{_B62}{{32}}_[0-9a-fA-F]{{8}}"),
    Shape("groq", ("gsk_",), f"{_B62}{{48,56}}"),
    Shape("heroku", ("HRKU-",), f"(?:AA{_URL}{{58}}|{_UUID})"),
    Shape("hubspot", ("pat-na", "pat-eu", "pat-ap"), f"[0-9]-{_UUID}"),
    Shape("huggingface", ("hf_", "api_org_"), f"{_B62}{{34,40}}"),
    Shape("infracost", ("ico-",), f"{_B62}{{32}}"),
    Shape("langfuse", ("sk-lf-",), _UUID),
    Shape("langsmith", ("lsv2_pt_", "lsv2_sk_"), f"{_HEX}{{32}}_{_HEX}{{10}}"),
    Shape("launchdarkly", ("sdk-", "api-", "mob-"), _UUID),
    Shape("linear", ("lin_api_", "lin_oauth_"), f"{_B62}{{40,64}}"),
    Shape("lob", ("live_", "test_"), f"{_HEX}{{35}}"),
    Shape("mailgun", ("key-",), f"{_HEX}{{32}}"),
    Shape("mapbox", ("sk.eyJ", "tk.eyJ"), f"{_URL}{{40,200}}\\.{_URL}{{22}}"),
    Shape("mergify", ("mergify_application_key_",), f"{_URL}{{40,80}}"),
    Shape("meta-llm", ("LLM|",), "[0-9|A-Za-z_-]{20,80}"),
    Shape("netlify", ("nfp_", "nfc_", "nfo_", "nfu_"), f"{_B62}{{36}}"),
    Shape("neon", ("napi_",), f"{_B62}{{48,70}}"),
    Shape("new-relic", ("NRAK-", "NRII-", "NRIQ-", "NRSP-"), f"{_URL}{{27,40}}"),
    Shape("new-relic", ("NRJS-", "NRAA-"), f"{_HEX}{{19,27}}"),
    Shape("notion", ("secret_",), f"{_B62}{{43}}"),
    Shape("notion", ("ntn_",), f"{_B62}{{43,50}}"),
    Shape("npm", ("npm_",), f"{_B62}{{36}}", "crc32"),
    Shape("nuget", ("oy2",), "[a-z0-9]{43}"),
    Shape("nvidia", ("nvapi-",), f"{_URL}{{60,70}}"),
    Shape("octopus", ("API-",), "[A-Z0-9]{25,34}"),
    Shape("one-password", ("ops_eyJ",), f"{_URL}{{200,1400}}", tail=True),
    Shape(
        "one-password",
        ("A3-",),
        "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    Shape(
        "openai",
        ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "sk-service-"),
        f"{_URL}{{40,220}}",
    ),
    Shape("openai", ("sk-",), f"{_B62}{{20}}T3BlbkFJ{_B62}{{20}}"),
    Shape("openai", ("sk-",), f"{_B62}{{48}}"),
    Shape("openrouter", ("sk-or-v1-",), f"{_HEX}{{64}}"),
    Shape("deepseek", ("sk-",), f"{_HEX}{{32}}"),
    Shape("openshift", ("sha256~",), f"{_URL}{{43}}"),
    Shape("packagist", ("packagist_",), f"[ou][ru][tw]_{_HEX}{{60,80}}"),
    Shape("perplexity", ("pplx-",), f"{_B62}{{48}}"),
    Shape("pinecone", ("pcsk_",), f"{_B62}{{5,7}}_{_B62}{{60,70}}"),
    Shape("pinterest", ("pina_",), f"{_B62}{{32,120}}"),
    Shape("plaid", ("access-sandbox-", "access-development-", "access-production-"), _UUID),
    Shape("planetscale", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), "[A-Za-z0-9_.=-]{32,64}"),
    Shape("posthog", ("phx_", "phs_"), f"{_URL}{{40,60}}"),
    Shape("postman", ("PMAK-",), f"{_HEX}{{24}}-{_HEX}{{34}}"),
    Shape("postman", ("PMAT-",), "[0-9A-Z]{26}"),
    Shape("prefect", ("pnu_", "pnb_"), f"{_B62}{{36}}"),
    Shape("pulumi", ("pul-",), f"{_HEX}{{40}}"),
    Shape("pypi", ("pypi-AgE",), f"{_URL}{{50,1000}}"),
    Shape("razorpay", ("rzp_live_", "rzp_test_"), f"{_B62}{{14}}"),
    Shape("readme", ("rdme_",), "[a-z0-9]{70}"),
    Shape("render", ("rnd_",), f"{_B62}{{28,40}}"),
    Shape("replicate", ("r8_",), f"{_URL}{{37,40}}"),
    Shape("resend", ("re_",), f"{_B62}{{8}}_{_B62}{{24}}"),
    Shape("rubygems", ("rubygems_",), f"{_HEX}{{48}}"),
    Shape("scalingo", ("tk-us-",), f"{_URL}{{48}}"),
    Shape("sendgrid", ("SG.",), f"{_URL}{{22}}\\.{_URL}{{43}}"),
    Shape("sentry", ("sntrys_",), f"{_URL}{{60,500}}", tail=True),
    Shape("sentry", ("sntryu_", "sntrya_", "sntryi_"), f"{_HEX}{{64}}"),
    Shape("shippo", ("shippo_live_", "shippo_test_"), f"{_HEX}{{40}}"),
    Shape(
        "shopify",
        ("shpat_", "shpss_", "shpca_", "shppa_", "shptka_", "shprt_"),
        "[0-9a-fA-F]{32}",
    ),
    Shape(
        "slack",
        ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-"),
        "(?:[0-9]{8,14}-){1,3}[A-Za-z0-9]{20,80}",
    ),
    Shape(
        "slack",
        ("xoxa-2-", "xoxr-2-", "xoxe-", "xoxe.", "xoxc-", "xoxd-"),
        "[A-Za-z0-9._-]{30,400}",
    ),
    Shape("slack", ("xapp-",), "[0-9]-[A-Z0-9]{8,14}-[0-9]{10,14}-[a-z0-9]{50,80}"),
    Shape("sonarqube", ("squ_", "sqp_", "sqa_"), f"{_HEX}{{40}}"),
    Shape("sourcegraph", ("sgp_",), f"(?:(?:{_HEX}{{16}}|local)_)?{_HEX}{{40}}"),
    Shape("segment", ("sgp_",), f"{_B62}{{64}}"),
    Shape("square", ("sq0atp-", "sq0csp-", "sq0idp-"), f"{_URL}{{22,43}}"),
    Shape("square", ("EAAA",), f"{_URL}{{60}}"),
    Shape(
        "stripe",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"),
        f"{_B62}{{16,250}}",
    ),
    Shape("stripe-webhook", ("whsec_",), f"{_B62}{{32,64}}", tail=True),
    Shape("supabase", ("sbp_",), f"(?:v0_)?{_HEX}{{40}}"),
    Shape("supabase", ("sb_secret_",), f"{_URL}{{30,48}}"),
    Shape(
        "tailscale",
        ("tskey-auth-", "tskey-api-", "tskey-client-", "tskey-scim-", "tskey-webhook-", "tskey-"),
        f"{_B62}{{10,32}}-{_B62}{{16,48}}",
    ),
    Shape("tavily", ("tvly-",), f"(?:dev-|prod-)?{_B62}{{30,40}}"),
    Shape("telegram", ("AA",), f"{_URL}{{33}}"),
    Shape("tencent", ("AKID",), f"{_B62}{{32}}"),
    Shape("terraform-cloud", (".atlasv1.",), f"{_URL}{{60,70}}", tail=True),
    Shape("together", ("tgp_v1_",), f"{_URL}{{40,48}}"),
    Shape("twilio", ("SK",), f"{_HEX}{{32}}"),
    Shape("twitter", ("AAAAAAAAAAAAAAAAAAAAA",), f"{_B62}{{30,120}}", tail=True),
    Shape("typeform", ("tfp_",), "[A-Za-z0-9_.-]{59}"),
    Shape("vault", ("hvs.", "hvb.", "hvr."), f"{_URL}{{24,300}}"),
    Shape(
        "vercel", ("vercel_blob_rw_", "vcp_", "vci_", "vca_", "vcr_", "vck_"), f"{_URL}{{24,80}}"
    ),
    Shape("wakatime", ("waka_",), _UUID),
    Shape("weights-and-biases", ("wandb_v1_",), f"{_URL}{{60,100}}"),
    Shape("xai", ("xai-",), f"{_B62}{{80}}"),
    Shape("yandex", ("AQVN",), f"{_URL}{{35,38}}"),
    Shape("yandex", ("y0_",), f"{_URL}{{50,70}}"),
    Shape("zuplo", ("zpka_",), f"{_HEX}{{32}}_{_HEX}{{8}}"),
)
