"""The token formats of well-known services, as data."""

from __future__ import annotations

import re
from typing import NamedTuple


class TokenForm(NamedTuple):
    """A word of at least 20 characters that is a secret by its form."""

    literals: str
    """Literals of which the token contains one, separated by spaces."""
    head: str
    body: str
    least: int
    most: int = 255
    end: str = ""
    cut: str = ""
    """The pattern of an incomplete body, if it is not simply a shorter body."""

    @property
    def whole(self) -> str:
        return f"{self.head}{self.body}{{{self.least},{self.most}}}{self.end}"

    @property
    def hints(self) -> list[tuple[str, str]]:
        """Each literal, with a pattern that starts at it: the rest of the head consists of characters of the body."""
        return [(it, f"{re.escape(it)}{self.body}{{{min(self.least, 16)}}}") for it in self.literals.split()]

    @property
    def partial(self) -> str:
        return f"{self.head}({self.cut or f'{self.body}{{1,{self.most}}}+'})"


ALNUM, WORD = "[A-Za-z0-9]", "[A-Za-z0-9_-]"
SERVICE_TOKENS = (
    TokenForm("ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_", ALNUM, 30),
    TokenForm("github_pat_", "github_pat_", r"\w", 30),
    TokenForm("glpat- glptt- gldt- glrt- glcbt- glsoat- glft- glffct- glimt- glagent-", "gl[a-z]{2,5}-", r"[\w.-]", 20),
    TokenForm("xox", r"xox(?:e\.xox)?[abcdeprs]-", WORD, 15),
    TokenForm("xapp-", "xapp-", WORD, 20),
    TokenForm("sk-", "sk-(?:[a-z]{2,10}[0-9]{0,2}-){0,3}", WORD, 20),
    TokenForm("k_live_ k_test_", "[rs]k_(?:live|test)_", r"\w", 16),
    TokenForm("whsec_", "whsec_", r"[\w+/=]", 24),
    TokenForm("AIza", "AIza", WORD, 35, 35),
    TokenForm("ya29.", r"ya29\.", r"[\w.-]", 20, 2000),
    TokenForm("GOCSPX-", "GOCSPX-", WORD, 20),
    TokenForm("npm_", "npm_", ALNUM, 36, 36, r"\b"),
    TokenForm("pypi-", "pypi-", WORD, 50),
    TokenForm("rubygems_", "rubygems_", "[0-9a-f]", 40),
    TokenForm("cio", "cio", ALNUM, 32, 32, r"\b"),
    TokenForm("oy2", "oy2", "[a-z0-9]", 43, 43, r"\b"),
    TokenForm("dckr_", "dckr_[po]at_", WORD, 20),
    TokenForm("AKIA ASIA ABIA ACCA", "(?:AKIA|ASIA|ABIA|ACCA)", "[0-9A-Z]", 16, 16, r"\b"),
    TokenForm("hf_", "hf_", ALNUM, 30),
    TokenForm("gsk_", "gsk_", ALNUM, 30),
    TokenForm("xai-", "xai-", ALNUM, 40),
    TokenForm("r8_", "r8_", ALNUM, 30),
    TokenForm("pplx-", "pplx-", ALNUM, 40),
    TokenForm("nvapi-", "nvapi-", WORD, 40),
    TokenForm("SG.", r"SG\.", r"[\w.-]", 50),
    TokenForm("key-", "key-", "[0-9a-f]", 32, 32, r"\b"),
    TokenForm("SK", "SK", "[0-9a-f]", 32, 32, r"\b"),
    TokenForm("_v1_", "do[opr]_v1_", "[0-9a-f]", 60),
    TokenForm("shpat_ shpca_ shppa_ shpss_", "shp(?:at|ca|pa|ss)_", "[0-9a-fA-F]", 32),
    TokenForm("sq0", "sq0(?:atp|csp)-", WORD, 22),
    TokenForm("EAAA", "EAAA[AE]", WORD, 50),
    TokenForm("hvs. hvb. hvr.", r"hv[sbr]\.", WORD, 20),
    TokenForm("lin_api_", "lin_api_", ALNUM, 30),
    TokenForm("figd_", "figd_", WORD, 30),
    TokenForm("PMAK-", "PMAK-", WORD, 30),
    TokenForm("ntn_", "ntn_", ALNUM, 40),
    TokenForm("ATATT3", "ATATT3", r"[\w=-]", 40),
    TokenForm("NRAK-", "NRAK-", "[A-Z0-9]", 27),
    TokenForm("dapi", "dapi", "[0-9a-f]", 32, 34, r"\b"),
    TokenForm("sbp_", "sbp_", "[0-9a-f]", 40),
    TokenForm("pscale_", "pscale_(?:tkn|pw|oauth)_", r"[\w.-]", 30),
    TokenForm("glsa_ glc_", "gl(?:sa|c)_", r"[\w+/=-]", 30),
    TokenForm("sntrys_ sntryu_", "sntry[su]_", r"[\w+/=-]", 40),
    TokenForm("pul-", "pul-", "[0-9a-f]", 40),
    TokenForm("AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1", "[0-9A-Z]", 50),
    TokenForm("tskey-", "tskey-", WORD, 20),
    TokenForm("CCIPAT_", "CCIPAT_", r"\w", 30),
    TokenForm("HRKU-", "HRKU-", WORD, 30),
    TokenForm("EAAC EAAM EAAG EAAB", "EAA[BCGM]", ALNUM, 60),
    TokenForm("dp.pt. dp.st. dp.ct. dp.sa.", r"dp\.(?:pt|st|ct|sa)\.", r"[\w.-]", 40),
    TokenForm("pat-na pat-eu", "pat-(?:na|eu)[0-9]-", "[0-9a-f-]", 36, 36, r"\b"),
    TokenForm("fo1_ fm1_ fm2_", "f(?:o1|m[12])_", WORD, 40, 1000),
    TokenForm("nfp_ nfc_ nfo_ nfu_ nfb_", "nf[bcopu]_", ALNUM, 36),
    TokenForm("CFPAT-", "CFPAT-", WORD, 40),
    TokenForm("phx_", "phx_", ALNUM, 40),
    TokenForm("sgp_", "sgp_(?:[0-9a-f]{16}_)?", "[0-9a-f]", 40),
    TokenForm("rdme_", "rdme_", "[a-z0-9]", 60),
    TokenForm("ops_eyJ", "ops_eyJ", r"[\w+/=-]", 100, 2000),
    TokenForm("secret_", "secret_", ALNUM, 43, 43, r"\b"),
    TokenForm("sl.", r"sl\.", WORD, 130, 2000),
    TokenForm("bkua_", "bkua_", "[0-9a-f]", 40),
    TokenForm("dt0c01.", r"dt0c01\.[A-Z0-9]{24}\.", "[A-Z0-9]", 60),
    TokenForm("EZAK EZTK", "EZ[AT]K", ALNUM, 54, 60, r"\b"),
    TokenForm("xkeysib-", "xkeysib-", WORD, 60),
    TokenForm("FLWSECK", "FLWSECK(?:_TEST)?-", WORD, 32),
    TokenForm("tvly-", "tvly-", WORD, 32),
    TokenForm("csk-", "csk-", "[a-z0-9]", 48),
    TokenForm("jina_", "jina_", WORD, 55),
    TokenForm("pcsk_", "pcsk_", r"\w", 50),
    TokenForm("lsv2_", "lsv2_(?:pt|sk)_", r"\w", 40),
    TokenForm("ATBB", "ATBB", ALNUM, 32, 32, r"\b"),
    TokenForm("ATCTT3", "ATCTT3", r"[\w=-]", 60),
    TokenForm("BBDC-", "BBDC-", r"[\w+/]", 40),
    TokenForm("amzn.mws.", r"amzn\.mws\.", "[0-9a-f-]", 36),
    TokenForm("mfa.", r"mfa\.", WORD, 60),
    # A base 64 number with one of a few prefixes, a time, and a signature.
    TokenForm(
        "MT Mj Mz ND NT Nj Nz OD OT", "(?:M[Tjz]|N[DTjz]|O[DT])", ALNUM, 20, 28, rf"\.{WORD}{{6}}\.{WORD}{{27,45}}",
        cut=rf"{ALNUM}{{20,28}}+(?:\.{WORD}{{0,6}}(?:\.{WORD}{{0,45}})?)?",
    ),
    TokenForm("AA", "(?<=[0-9]{8}:)AA", WORD, 33, 33, r"\b"),
    TokenForm(".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.", WORD, 50),
    TokenForm(
        "eyJ", "eyJ", WORD, 8, 2000, rf"+(?:\.{WORD}{{0,4000}}+){{2,4}}",
        cut=rf"{WORD}{{1,2000}}+(?:\.{WORD}{{0,4000}}+){{0,4}}+",
    ),
)  # fmt: skip
