"""Countries that some providers want by their English name; only those whose name is written in one way."""

_LISTED = """
AD Andorra, AE United Arab Emirates, AF Afghanistan, AL Albania, AM Armenia, AO Angola, AR Argentina, AT Austria,
AU Australia, AW Aruba, AZ Azerbaijan, BA Bosnia and Herzegovina, BB Barbados, BD Bangladesh, BE Belgium,
BF Burkina Faso, BG Bulgaria, BH Bahrain, BI Burundi, BJ Benin, BM Bermuda, BR Brazil, BS Bahamas, BT Bhutan,
BW Botswana, BY Belarus, BZ Belize, CA Canada, CF Central African Republic, CH Switzerland, CL Chile, CM Cameroon,
CN China, CO Colombia, CR Costa Rica, CU Cuba, CY Cyprus, CZ Czechia, DE Germany, DJ Djibouti, DK Denmark, DM Dominica,
DO Dominican Republic, DZ Algeria, EC Ecuador, EE Estonia, EG Egypt, ER Eritrea, ES Spain, ET Ethiopia, FI Finland,
FJ Fiji, FR France, GA Gabon, GB United Kingdom, GD Grenada, GE Georgia, GH Ghana, GI Gibraltar, GL Greenland,
GM Gambia, GN Guinea, GQ Equatorial Guinea, GR Greece, GT Guatemala, GU Guam, GW Guinea-Bissau, GY Guyana,
HK Hong Kong, HN Honduras, HR Croatia, HT Haiti, HU Hungary, ID Indonesia, IE Ireland, IL Israel, IM Isle of Man,
IN India, IQ Iraq, IS Iceland, IT Italy, JM Jamaica, JO Jordan, JP Japan, KE Kenya, KG Kyrgyzstan, KH Cambodia,
KM Comoros, KW Kuwait, KY Cayman Islands, KZ Kazakhstan, LB Lebanon, LI Liechtenstein, LK Sri Lanka, LR Liberia,
LS Lesotho, LT Lithuania, LU Luxembourg, LV Latvia, LY Libya, MA Morocco, MC Monaco, ME Montenegro, MG Madagascar,
ML Mali, MM Myanmar, MN Mongolia, MR Mauritania, MT Malta, MU Mauritius, MV Maldives, MW Malawi, MX Mexico,
MY Malaysia, MZ Mozambique, NA Namibia, NE Niger, NG Nigeria, NI Nicaragua, NL Netherlands, NO Norway, NP Nepal,
NZ New Zealand, OM Oman, PA Panama, PE Peru, PG Papua New Guinea, PH Philippines, PK Pakistan, PL Poland,
PR Puerto Rico, PT Portugal, PY Paraguay, QA Qatar, RO Romania, RS Serbia, RW Rwanda, SA Saudi Arabia, SD Sudan,
SE Sweden, SG Singapore, SI Slovenia, SK Slovakia, SL Sierra Leone, SM San Marino, SN Senegal, SO Somalia, SR Suriname,
SS South Sudan, SV El Salvador, TD Chad, TG Togo, TH Thailand, TJ Tajikistan, TM Turkmenistan, TN Tunisia, TO Tonga,
TT Trinidad and Tobago, UA Ukraine, UG Uganda, US United States, UY Uruguay, UZ Uzbekistan, VU Vanuatu, YE Yemen,
ZA South Africa, ZM Zambia, ZW Zimbabwe
"""
COUNTRY_NAMES: dict[str, str] = {
    code: name for code, _, name in (entry.strip().partition(" ") for entry in _LISTED.split(","))
}
