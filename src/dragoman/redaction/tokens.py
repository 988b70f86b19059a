"""Words that are secrets by their own shape: the tokens of services, as data."""

from __future__ import annotations

import re
from typing import NamedTuple


class Token(NamedTuple):
    """A word of at least 20 characters that is a secret by its own shape."""

    literals: str
    """Of which one stands in it."""
    head: str
    body: str
    least: int
    most: int = 255
    end: str = ""
    cut: str = ""
    """The body as it stands while it is not whole, where that is not some of the body."""

    @property
    def whole(self) -> str:
        return f"{self.head}{self.body}{{{self.least},{self.most}}}{self.end}"

    @property
    def hints(self) -> list[tuple[str, str]]:
        """Each literal, and what stands from it on: the rest of the head is of the body's characters, too."""
        return [(it, f"{re.escape(it)}{self.body}{{{min(self.least, 16)}}}") for it in self.literals.split()]

    @property
    def begun(self) -> str:
        return f"{self.head}({self.cut or f'{self.body}{{1,{self.most}}}+'})"


ALNUM, WORD = "[A-Za-z0-9]", "[A-Za-z0-9_-]"
TOKENS = (
    Token("ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_", ALNUM, 30),
    Token("github_pat_", "github_pat_", r"\w", 30),
    Token("glpat- glptt- gldt- glrt- glcbt- glsoat- glft- glffct- glimt- glagent-", "gl[a-z]{2,5}-", r"[\w.-]", 20),
    Token("xox", r"xox(?:e\.xox)?[abcdeprs]-", WORD, 15),
    Token("xapp-", "xapp-", WORD, 20),
    Token("sk-", "sk-(?:[a-z]{2,10}[0-9]{0,2}-){0,3}", WORD, 20),
    Token("k_live_ k_test_", "[rs]k_(?:live|test)_", r"\w", 16),
    Token("whsec_", "whsec_", r"[\w+/=]", 24),
    Token("AIza", "AIza", WORD, 35, 35),
    Token("ya29.", r"ya29\.", r"[\w.-]", 20, 2000),
    Token("GOCSPX-", "GOCSPX-", WORD, 20),
    Token("npm_", "npm_", ALNUM, 36, 36, r"\b"),
    Token("pypi-", "pypi-", WORD, 50),
    Token("rubygems_", "rubygems_", "[0-9a-f]", 40),
    Token("cio", "cio", ALNUM, 32, 32, r"\b"),
    Token("oy2", "oy2", "[a-z0-9]", 43, 43, r"\b"),
    Token("dckr_", "dckr_[po]at_", WORD, 20),
    Token("AKIA ASIA ABIA ACCA", "(?:AKIA|ASIA|ABIA|ACCA)", "[0-9A-Z]", 16, 16, r"\b"),
    Token("hf_", "hf_", ALNUM, 30),
    Token("gsk_", "gsk_", ALNUM, 30),
    Token("xai-", "xai-", ALNUM, 40),
    Token("r8_", "r8_", ALNUM, 30),
    Token("pplx-", "pplx-", ALNUM, 40),
    Token("nvapi-", "nvapi-", WORD, 40),
    Token("SG.", r"SG\.", r"[\w.-]", 50),
    Token("key-", "key-", "[0-9a-f]", 32, 32, r"\b"),
    Token("SK", "SK", "[0-9a-f]", 32, 32, r"\b"),
    Token("_v1_", "do[opr]_v1_", "[0-9a-f]", 60),
    Token("shpat_ shpca_ shppa_ shpss_", "shp(?:at|ca|pa|ss)_", "[0-9a-fA-F]", 32),
    Token("sq0", "sq0(?:atp|csp)-", WORD, 22),
    Token("EAAA", "EAAA[AE]", WORD, 50),
    Token("hvs. hvb. hvr.", r"hv[sbr]\.", WORD, 20),
    Token("lin_api_", "lin_api_", ALNUM, 30),
    Token("figd_", "figd_", WORD, 30),
    Token("PMAK-", "PMAK-", WORD, 30),
    Token("ntn_", "ntn_", ALNUM, 40),
    Token("ATATT3", "ATATT3", r"[\w=-]", 40),
    Token("NRAK-", "NRAK-", "[A-Z0-9]", 27),
    Token("dapi", "dapi", "[0-9a-f]", 32, 34, r"\b"),
    Token("sbp_", "sbp_", "[0-9a-f]", 40),
    Token("pscale_", "pscale_(?:tkn|pw|oauth)_", r"[\w.-]", 30),
    Token("glsa_ glc_", "gl(?:sa|c)_", r"[\w+/=-]", 30),
    Token("sntrys_ sntryu_", "sntry[su]_", r"[\w+/=-]", 40),
    Token("pul-", "pul-", "[0-9a-f]", 40),
    Token("AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1", "[0-9A-Z]", 50),
    Token("tskey-", "tskey-", WORD, 20),
    Token("CCIPAT_", "CCIPAT_", r"\w", 30),
    Token("HRKU-", "HRKU-", WORD, 30),
    Token("EAAC EAAM EAAG EAAB", "EAA[BCGM]", ALNUM, 60),
    Token("dp.pt. dp.st. dp.ct. dp.sa.", r"dp\.(?:pt|st|ct|sa)\.", r"[\w.-]", 40),
    Token("pat-na pat-eu", "pat-(?:na|eu)[0-9]-", "[0-9a-f-]", 36, 36, r"\b"),
    Token("fo1_ fm1_ fm2_", "f(?:o1|m[12])_", WORD, 40, 1000),
    Token("nfp_ nfc_ nfo_ nfu_ nfb_", "nf[bcopu]_", ALNUM, 36),
    Token("CFPAT-", "CFPAT-", WORD, 40),
    Token("phx_", "phx_", ALNUM, 40),
    Token("sgp_", "sgp_(?:[0-9a-f]{16}_)?", "[0-9a-f]", 40),
    Token("rdme_", "rdme_", "[a-z0-9]", 60),
    Token("ops_eyJ", "ops_eyJ", r"[\w+/=-]", 100, 2000),
    Token("secret_", "secret_", ALNUM, 43, 43, r"\b"),
    Token("sl.", r"sl\.", WORD, 130, 2000),
    Token("bkua_", "bkua_", "[0-9a-f]", 40),
    Token("dt0c01.", r"dt0c01\.[A-Z0-9]{24}\.", "[A-Z0-9]", 60),
    Token("EZAK EZTK", "EZ[AT]K", ALNUM, 54, 60, r"\b"),
    Token("xkeysib-", "xkeysib-", WORD, 60),
    Token("FLWSECK", "FLWSECK(?:_TEST)?-", WORD, 32),
    Token("tvly-", "tvly-", WORD, 32),
    Token("csk-", "csk-", "[a-z0-9]", 48),
    Token("jina_", "jina_", WORD, 55),
    Token("pcsk_", "pcsk_", r"\w", 50),
    Token("lsv2_", "lsv2_(?:pt|sk)_", r"\w", 40),
    Token("ATBB", "ATBB", ALNUM, 32, 32, r"\b"),
    Token("ATCTT3", "ATCTT3", r"[\w=-]", 60),
    Token("BBDC-", "BBDC-", r"[\w+/]", 40),
    Token("amzn.mws.", r"amzn\.mws\.", "[0-9a-f-]", 36),
    Token("mfa.", r"mfa\.", WORD, 60),
    # A number in base 64, so one of a few beginnings; when it was made; a signature.
    Token(
        "MT Mj Mz ND NT Nj Nz OD OT", "(?:M[Tjz]|N[DTjz]|O[DT])", ALNUM, 20, 28, rf"\.{WORD}{{6}}\.{WORD}{{27,45}}",
        cut=rf"{ALNUM}{{20,28}}+(?:\.{WORD}{{0,6}}(?:\.{WORD}{{0,45}})?)?",
    ),
    Token("AA", "(?<=[0-9]{8}:)AA", WORD, 33, 33, r"\b"),
    Token(".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.", WORD, 50),
    Token(
        "eyJ", "eyJ", WORD, 8, 2000, rf"+(?:\.{WORD}{{0,4000}}+){{2,4}}",
        cut=rf"{WORD}{{1,2000}}+(?:\.{WORD}{{0,4000}}+){{0,4}}+",
    ),
)  # fmt: skip
