"""Pairs of letters as they stand in languages with accents, by which encodings are told that have the same letters
at other places: `Èt` is nearly never written, `čt` is Czech.

Counted in summaries of Wikipedia, by the profiles of langdetect 1.0.9 (Apache 2.0); those of Icelandic by hand.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

_PAIR = 2


_PAIRS: Mapping[str, str] = {
    "de": (
        "ürfüänörrüünhööstäübßeätühüd üsüläräähröärmähä öäuälußäcköücönwäzöoßßbaßüsütäsößfäöhsätüpäßtägäföföl"
        "épdékühümünöädlü äömeßiß"
    ),
    "fr": (
        "é à  àré ééedéténéérétécéségnçuéméçaséépédièèrléénpéévélcéémgéhéiééarèèsfééoèmècébpèêtéfvéèttèéélèéq"
        "béôtêmènâtmèmêègaîîl îûtoûcèço"
    ),
    "es": (
        "ónióíaaññoó máántóríñaénésáslítá áérísíniétíráítméá eñdírógéúnléállótéícaííoé árátcéácláí ólgíórmúsí"
        "púcíúbúsdénínóétmóóm éógécéléx úuíeóímcóuénéfísézópóífútódréáfcáídmíú nú"
    ),
    "pt": (
        "é ão éçãaçár áiãsãróçaínnçõeênécóiérânrítóêslíiç àcíá víémípórpétáà ílmíísçõçosétéráíoítbéuíónídálmé"
        "lóôntíaílágêtâícrçnãtãátnáúsuêréétlémãásímeçuçrãcçóprêólésmáúbnéósédélnípúáxácmúávlêódiádéénâmóg úív"
        "ã pófídêúnsáífsí"
    ),
    "it": "è  èà tàù iùò é ",
    "nl": "iëë éné  éréééné",
    "da": (
        "å påørærføårødrævææn øøssålææsælådsøtøøbrø åægkøækønmåråsæøjløhødøåntåtæætgånælåålølmæfæædø øgkæøvjæ"
        "øeåehægøbø æævhåømnåjøåbbæbåmø"
    ),
    "no": "å ørpåføød åærårøysø øøstørårødøjøsåådhøgåønløøvmåvæåtåltåøkøpølåkømlånånævåbålæånåpänøtläø åsbø",
    "sv": (
        "är äföörödå änånpåråväläårdörä öäsäl åättäägådsånäsäävvåjäösgåhöröämåtmäövkäålsöäktögölåmåtåönjöågdä"
        "häötköfäögkåöpåklöhåböö äxädöldåömåsäpnåmöäcbä"
    ),
    "fi": "ä täläääänsäjäkämävääiärälnääsyöpääyämäkättöähävösiähäönö äjräiölööiköäpökötäo äeäöläedäyä",
    "is": (
        "ð aðiððaðiðuuðþaþeþiþí þærfælææðmæóðjáá árfáhánáráþáálé ég éérþéét íí ínmísítílíísó tósólöög öölörfö"
        "önú þúúrúthúnúý nýþýdýöð"
    ),
    "ca": (
        "és éó ióèsà cèé líèntàànméí ínlàçatòbéràmíónísònmàtíríílítiàècàrèr ànçòrlèpèsóròímrèíclòtóàcnèàtgèmè"
        "téníréúsvícààsàldèè uïtèò uèòluíç ètrçnàòmpúúbòscòmúsèòpfíièdàmóaç úàmògàfósaíèlléífgülóüecíaïsíbàït"
        "sà ínòró èéníoú iònémò òúnïsíapòïdrúvéuédéèdpàòcórdíídxíèxgàïnèmcéeòbèúldòàbúrfòdófósòèpqüánígòfçoér"
        "òteïípuàéiúmgóèipíàpnúhàséàxàupóàgòdíréuxòíbvèxèeóeçcónólçeàgòlúègívèvjàfàbòvààdbútúoàétñagíüèòbañàq"
        "dúbófèzàüíçóbííq"
    ),
    "cs": (
        "í níé á ý kéněě řená číckýpřýcváčerávýnýánřícíů ímnééhálvějíměkávéšíž zážečnýmémláěttřtíáttěačtářité"
        "ožázděvíásávuž řžímíži úči žádrýěníh šěsíkréečořělísmáárhádášeějočežčáběžnámlírůdíštívčaácažíněkléič"
        "ákzíčípůučtýílídméénižývěmírsíápiáítkůbíjšvšůvařlýbýšiářešpěčkištšř érušížůsřatůúzízéžěrčtěžškdůmůáb"
        "křčošnpíyšědpáýzřsnůbřčlrčeřsáýrčuěhůmhédřdébářálůáhířvůiížsášň šaošč íplšězážeňůzěřršétcůhůůžsémýšl"
        "ždýtnčúčžoýšíčnšíjúsašíšěc"
    ),
    "sk": (
        "á ý é nýnáýcnérávýký čí éhú  šť káčakéjúeľálzáríníýmsúárštváčnácočsťtáčečižiátávačrýši žľaúc úrélámá"
        "ádužžetíožánínvéívímežháícažtéíkšežnľoémšíičtúámúzžíónčíístýáklíázítúrž čoúčápiáväoľjš ľúsťamíečáspô"
        "dáľkkúývrúaťvšértónúdíírlóróétógórškľ yšľučkešžkrčúdsíeňčšäčťoútňačldľľsľnvíýzôslýďaióšouáôvpínššaií"
        "ižpáošišábýrň ódnčňocíópíduššpájršiťáhízúhĺždĺómšnč lúučmälécúčužsíphýbážoýsžabýhľénď žuzíždätaďúnéc"
        "ňuáľíláčúlä ôžášdôížsémônóméaľeáašúpzýeóššbísáeďkóhézé"
    ),
    "pl": (
        "łoówącięołłaą ałjąośę ścożódeśńsżowó śóriął ć rósłtóługłańś ząeżśćłyżyzęółłóyłśwędżepóńcśrkóżaoń ł ż"
        "kłużgóądrąętłeślągnąiłążż łnińżntęjęęcśneńęśązń kąępóldłpłwłłkełręzłażląątcóżąąsękęznóęgwąułłąsóyżsą"
        "hóęsmóóżióębyńaćcąbąężiżłckżdówęaśźnóbzóżumęnębężsójaź"
    ),
    "hu": (
        "ésál éáránásó táköülláéntéábégzájáélágvárásémáözékő sáléérnéítát ákézóréétzétóákörvééblóévépméóllőtő"
        "ádű yáférótöjénáiárüdégéősönzögáőlháötióú írölműkásőám öövzőröázdáöspáájúakúbósíémóknőóslüökzídódőód"
        "yézübápüímrőézáccí ígóéhójküfődíínőksúávtűtíótáhógé tüöblöbőpí ó úédrúükögkóívóbgöütízlíújsüyüpéópkí"
        "útőtónnöföjúórűvcévíómtúőiőnődhérűsóügóiyóbéőrőjsöőzvőfü üünápödá őbmóózófővúgúlyűyúdöúshíjóíj őócmí"
        "yíbögúúrűkvöűesűílvűíg"
    ),
    "ro": (
        "ă  îînţişi ştăâncăaţnărăărnţmâlăştsăeşaşpăătzămăeţţaiţţăţeăscţcâţuăţş râişşurţuţgăbăvăşepâăutâvâârăl"
        "dăâuăz ţfăuăşaîmănămâtăcuşăioşşoăd șşcăşţ oţlţfââm țăpnârşâşsââllâbţpţîşé ăgștgâxă"
    ),
    "hr": (
        "iččkaččištčn č šžaiš žćičeužčažiučočržećžećaeđaššižnešćešnškđeđuoščjićpćečožšeušućžuađaćažšačuć ršrč"
        "ežđač ođšćš ćuiždžžbá oć"
    ),
    "sl": (
        "škiččiiščn šče žašočča čžežiščštačečžubčžaežožšiužeššeršč žnošjššačjižržčumščkučšndžušnččlšpčražžjž "
        "žbnššoićzšáršlšjánénrčvčlémálžć švš mčvšrádšérnžínćiújváásčoréálé aúátónláétlčjáríšutéílélvékšróíjmé"
        "ürčbžknálílóví îîlžotálšnéákéstóháättäćebššćséšmórtížlédníkódéémádkáírékhéjčžgôt éájítèrsáólávnçósó "
        "ázácièótünpšóvévódêrfüyőörísőr"
    ),
    "lt": (
        "ų ėsių šė nėiščiši įžią į  žtųėjškrėdžūrlėštžejųš nųkšbėaššapėaždėtėę vėkųšekėežešmėūnnčužtūžaėllųsė"
        "rųrūmąbūmųšvęssąėnkūečščėtiūjūsčršačįsič čyčjąžužngėtąšožoėmūšręšlžmgųūdžyždnįdųnęėdnąsųšuržbųųjūkią"
        "įvvųžvąjūtūskąrąrįšsčeąsšyįkląėgž uštęūzšrjėšmėžcūįrgūožtįgžlįočįtyšlęošučižvęmžėkąr ūzėžtįmėrjęjįšn"
        "mūgąūmkęlūžėūgsūyždąpšvūįlįgčadįūbžsbęąvč šėėvbąžųšprčlžpųvąpędū ėmę"
    ),
    "lv": (
        "ā tākānāāsrāārjārītīībākālšalāētātmāāmlīējīgpēzīājērvēītī pāvādāācād šmēīvīdģitēē ānošdīūrešļagānīņu"
        "lēēmiņēlsēaļļueļšuīmāvbāīsīnšiņasācīdēķirēašnēēkežkštūš iāšķēsrš ģījjūsīzēēcažeņmūzāūdkļvīīcšāūtža ķ"
        " āoģābcēēnbīāz īēdīrūsmīdžaņžāušēšžo čņiķīģešīšoļižuīkļābūļočežiūzlū ūāņķeīščurūāšeāpīišķuīzāfiķāpjē"
        "eģīp žņeoņ ēbēgūūkeķzņ ļštgļēļžeūnīņšsiļēzņēuāuņņšīlņāuļgšpššecāčarķnčižšērģņoēvūvšvāgņķāļoļēģfēķahā"
        "tššpūciģšdčiaķačļ ožtļļrļņēgpūrņķēļūuģaīlš ņsūšknšmšļvšūdūšr"
    ),
    "et": (
        "õiärvõ üsüväühääülmäünänpõäiõhjäläähtämõpäõukõsõõrälööjõküüülõük õüsäeõlõnnälüõeõttöümõjkäõpnõtõrütš"
        "tü äägütürpüäshäõõäbõgmüüdäträüpödöthõörhüfü šše öõdökš džsäšiõsrõäpönügõmžidüämösšapöävö nüvösöförö"
        "žaiõölädbää ašköfämöäköpaüšoežé löõviüü ānübõkšvbüõbvüüvögövániššuäo žgüškeüõ üaī aõušóngöō štjüažøy"
        "öm"
    ),
    "tr": (
        "ı ınlınıırsırııldıünyıürtıaş çişmıağışştkış tü ü öık şımdüğışaüzçiğiçemüü ölülşiümğuiçöngülüısöruşiğ"
        "eşçağlgöyüşıükığnüoğfıböıdşebüşlözcıpırüıyküçışmzıız ıuğeğlçaçköç üyçoüsüfeçsüşkçüyöşudörçüşğrüdçlüç"
        "öyıcğeğakçcüütıtücrşsözögıököstçnçâltööğüğuç"
        " İİsİzİnİlİmİbİtİhİkİd"
    ),
}
"""The pairs of each language, one behind the other, the most frequent first; a space stands for the end of a word."""

_KNOWN = {
    language: frozenset(text[at : at + _PAIR] for at in range(0, len(text), _PAIR)) for language, text in _PAIRS.items()
}
_WITHOUT = 0.5
"""The share where no letter is accented."""


def paired(text: str, languages: Sequence[str]) -> float:
    """Return the share of accented letters that stand beside their neighbours as in one of the languages: at most 1."""
    low = "İ".join(part.lower() for part in text.split("İ"))  # its own small one are two characters
    beside = Counter[str]()
    letters = 0
    for place, char in enumerate(low):
        if char.isascii() or not char.isalpha():
            continue
        letters += 1
        beside[_or_space(low[place - 1 : place]) + char] += 1
        beside[char + _or_space(low[place + 1 : place + 2])] += 1
    if not letters:
        return _WITHOUT
    known = (sum(count for pair, count in beside.items() if pair in _KNOWN[each]) for each in languages)
    return max(known) / (_PAIR * letters)


def _or_space(neighbour: str) -> str:
    return neighbour if neighbour.isalpha() else " "
