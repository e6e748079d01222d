"""How common a word is in encyclopaedic and news prose, in three classes.

A match of a rare word says more than one of a common word (the idea behind inverse document
frequency, Spärck Jones 1972). Two hand-written lists stand in for counts: no corpus is needed.
"""

from typing import Final

VERY_COMMON: Final = frozenset(
    """
    age album american annual appear area army art attack author available award band base battle
    became become began begin best big birth board body book born bring british brother build
    building business call capital car career case cause center centre central century change
    character charge child children church city class club coach college come common community
    company compete complete consider contain continue control cost council country county court
    cover create culture current daughter day death design develop development die different
    direct director district division early east edition education effect election end english
    episode establish event example experience face fact family famous father feature few field
    film final find first follow food force form former found free french full game general
    german get give go good government great ground group grow hand head help high hold history
    home hospital house human idea important include increase industry international issue job
    join keep kind king know land language large last late later law lead league learn leave left
    level life like line list live local long look lose made main major make man many market
    match mean medium meet member men military million mother movie music name nation national
    near need new next night north note novel number offer office official old open opera
    operate order organization original own park part party pass people perform period person
    place plan play player point police political popular population position power present
    president press produce product production professional program project provide public
    publish put range rate read receive record refer region relation release report represent
    require research rest result return right rise river road role rule run school science
    season second see sell send series serve service set several show side sign similar single
    sister site small social society song son south special stage standard star start state
    station stay still story street structure student study style success support system take
    team tell term test think third thing time title today together top total town trade train
    turn type unit united university use version victory video view village visit war watch
    water way week west white win woman women word work world write year young
    january february march april june july august september october november december
    black blue red green america england britain europe
    ability able accord account act action add additional address allow amount appearance approach
    aspect associate assume attempt average basic behavior believe benefit better bit bad certain
    clear close collect collection combination compare concept condition contribute correct couple
    create date deal decide define depend describe detail determine difference difficult discover
    discuss drive easy element enable encourage enjoy ensure especially essential exist existing
    expect explain express extend factor fail feel figure follow forward function future happen
    hard hear hope identify image improve individual influence information involve item key lack
    less let likely limit link little lot low maintain manage material matter measure method mind
    modern money month move multiple natural nature necessary normal occur offer often operation
    option overall particular particularly past pay per perhaps piece please possible potential
    practice prepare prevent primary prior problem process prove purpose quality question quick
    quite real really reason recent recently reduce remain remove replace respond responsible role
    sense separate share short significant simple simply since situation size soon source space
    specific speak stand step stop subject suggest sure talk task thank traditional treat true try
    understand unique usual usually value variety various whole wide widely wrong various
    originally generally typically commonly currently sometimes always actually
    based located known called considered regarded
    """.split()
)

COMMON: Final = frozenset(
    """
    abandon abroad absence absolute academic academy accept access accident accompany achieve
    acquire acquisition active activity actor actress actual adapt adaptation administration admit
    adopt adult advance advantage adventure advertise advice affair affect afford africa african
    agency agent agree agreement agriculture aid aim air aircraft airline airport album alcohol
    allege alliance alone alternative amateur ambassador ancestor ancient animal animation
    anniversary announce apartment apparent appeal apply appoint appointment approve archaeology
    architect architecture archive argue argument arrange arrest arrival arrive article artist
    artistic asia asian assault assembly assign assist assistant association atlantic atmosphere
    attach attend attention attract attraction audience audio australia australian authority
    automatic aware background bad balance ball ban bank bar baseball basin basis basketball bath
    bay beach bear beat beautiful bed behind belief belong bible bid billion bird birthday block
    blood board boat bomb border boss bottom boundary box boy branch brand brazil break bridge
    brief bright broad broadcast brown budget bus busy buy cabinet california camera camp campaign
    campus canada canadian cancel cancer candidate capacity captain capture card care carry cast
    castle category cathedral catholic cell ceremony chain chair chairman challenge champion
    championship chance channel chapter chart chemical chicago chief china chinese choice choose
    christian christmas cinema circle circuit citizen civil civilian claim classic classical
    classify clean climate climb clinic clock cloud coal coalition coast code cold collaborate
    colony color colour column combat combine comedy comic command commander comment commerce
    commercial commission commit committee communicate communication communist compose composer
    composition comprehensive comprise computer concentrate concern concert conclude conduct
    conference confirm conflict congress connect connection conservative consist constant
    constitution construct construction consult consumer contact contemporary contest context
    continent contract contrast convention conventional convert cook cooperation copy core corner
    corporation council count couple courage course cousin craft crash crew crime criminal crisis
    critic critical criticism cross crowd crown crucial cup curriculum customer cut cycle damage
    dance danger dangerous dark data database deaf dean debate debut decade decision declare
    decline decrease dedicate deep defeat defend defense defence degree deliver delivery demand
    democracy democrat democratic demonstrate density department deputy derive desert designate
    desire despite destination destroy device devote dialogue diet digital dinner dioxide direction
    disaster discipline discovery discussion disease dismiss display distance distinct distinctive
    distinguish distribute distribution diverse doctor document documentary dog domestic dominate
    door double doubt draft drama dramatic draw dream dress drink drop drug dry dual due duke
    duration duty dynasty earn earth eastern economic economics economy edge edit editor educate
    effective efficient effort egg elder elect electric electrical electricity electronic elementary
    embassy emerge emergency emperor emphasis empire employ employee employment encounter enemy
    energy engage engine engineer engineering enter enterprise entertainment entire entrance
    entrepreneur entry environment environmental equal equip equipment equivalent era escape
    estate estimate ethnic european evaluate eventual eventually evidence evolution evolve exact
    examine excellent exception exchange executive exercise exhibit exhibition expand expansion
    expensive experiment expert explore export exposure express extensive extent external extra
    extreme eye facility factory faculty fair faith fall fan fantasy farm farmer fashion fast fate
    favor favorite fear federal federation feed fellow female festival fiction fight file fill
    finance financial fine finger finish fire firm fish fit flag fleet flight floor flow flower fly
    focus folk foot football foreign forest formal format formation formula fort fortune forum
    foundation founder frame framework france freedom frequency frequent fresh friend friendly front
    fruit fuel fund fundamental funeral fusion gain gallery gang garden gas gate gather gay gender
    gene generate generation genetic genre geography germany giant gift girl glass global goal god
    gold golden golf governor grade gradual graduate grand grant grass grave gray grey greek gross
    growth guard guest guide guideline guilty guitar gun hair half hall handle hang harbor harm
    heart heat heavy height heir heritage hero hide highway hill hip hire historian historic
    historical hit holiday hollywood holy honor honour horror horse host hot hotel hour household
    housing huge hundred hunt husband ice ideal identity illegal illness imagine immediate immigrant
    impact imperial implement imply import impress inch incident income incorporate independence
    independent india indian indicate indigenous indoor industrial infant infection inform
    infrastructure inhabit inhabitant initial initially initiate initiative injure injury inner
    innovation inspire install instance institute institution instruction instrument insurance
    intelligence intend intense interact interaction interest interior internal internet interpret
    interview introduce introduction invasion invent invest investigate investigation investment
    invite iron island isolate israel italian italy japan japanese jazz jew jewish journal journalism
    journalist journey judge jump junior jury justice justify kill killer kingdom kitchen knight
    knowledge label labor labour laboratory lady lake landscape larger latin latter laugh launch
    lawyer lay layer leader leadership leaf legacy legal legend legislation legislature length
    lesson letter liberal liberty library license lie lieutenant light likewise limitation literary
    literature load loan locate location london loss loud love lower lunch lyric machine magazine
    magic mail majority male manager manner manufacture manufacturer map marine mark marriage
    married marry mass massive master math mathematics mayor meal media medal medical medicine
    medieval mental mention merchant merge message metal meter metre metropolitan mexican mexico
    middle mile militia mine mineral minister ministry minor minority minute mission mix mixture
    mobile mode model moderate moment monarch monitor monument moral morning mostly motion motor
    mountain mouth movement multi municipal municipality murder museum musical musician muslim
    mutual mystery narrative narrow native navy nearby negative negotiate neighborhood neighbour
    network neutral newspaper news nickname nobel noble nominate nomination northern northeast
    northwest norway notable notice notion novelist nuclear object objective observe obtain obvious
    occasion occupy ocean offense officer oil older olympic online onwards opinion opponent
    opportunity oppose opposition orchestra ordinary organ organic organize origin outdoor output
    outside outstanding owner ownership oxygen pace pacific page pain paint painter painting pair
    palace panel paper parent paris parliament participant participate partner partnership passage
    passenger patent path patient pattern peace peak performance permanent permission permit persian
    personal personality personnel perspective phase phenomenon philosopher philosophy phone photo
    photograph photographer photography phrase physical physician physics piano pick picture pilot
    pioneer planet plant plastic plate platform pleasure plot poem poet poetry policy politician
    politics pollution pool poor pop port portion portrait portray positive possess possession
    possibility post poverty powerful practical praise precise predict prefer pregnant premier
    premiere presence preserve pressure prevent previous price priest prime prince princess
    principal principle print priority prison prisoner private prize procedure proceed producer
    profession professor profile profit programme progress prohibit prominent promise promote
    promotion proof proper property proportion proposal propose prosecute protect protection protein
    protest protocol province provision psychology publication publisher pull purchase pure pursue
    push qualify quarter queen quote race racial racing radical radio rail railroad railway rain
    raise random rank rapid rapper rare ratio raw reach react reaction reader ready reality realize
    rear rebel recall recipe recognition recognize recommend recommendation recording recover
    recovery recruit recycle reference reflect reform refugee refuse regard regime regiment register
    regular regulate regulation reign reject relate relationship relative relax relevant reliable
    relief religion religious rely remark remember remote renew rent repair repeat replacement reply
    reporter republic republican reputation request rescue researcher reserve reside residence
    resident resign resistance resolution resolve resort resource respect response responsibility
    restaurant restore restrict restriction retain retire retirement reveal revenue reverse review
    revolution revolutionary reward rich ride ring risk ritual rival rock roll roman romance romantic
    rome roof room root rough round route routine row royal ruin ruler rural rush russia russian sacred
    safe safety sail saint salary sale sample san satellite satisfy save scale scandal scene schedule
    scheme scholar scholarship scientific scientist scope score scottish screen screenplay sea seal
    search seat secret secretary section sector secure security seed seek segment select selection
    self senate senator senior sentence september sequence serious servant session settle settlement
    severe sex sexual shape sharp ship shoot shop shore shot shoulder shut sick signal signature
    silver similarity singer sit skill skin slave sleep slight slow smart smooth soccer soft software
    soil solar soldier sole solid solo solution solve sort soul sound soundtrack southern southeast
    southwest soviet spain spanish speaker species speech speed spend spirit spiritual split sponsor
    sport spot spread spring square squad stability stable stadium staff stance stationed statistic
    statue status steal steel stem stock stone storage store storm straight strategic strategy stream
    strength stress stretch strict strike string strong studio stuff submit subsequent subsequently
    substance substantial suburb succeed successful successor sudden suffer sufficient suitable suit
    summer sun supply supreme surface surgery surprise surround survey survive survivor suspect
    sustain sweet swim switch symbol symptom table tail talent tank target tax teach teacher teaching
    technical technique technology television temperature temple temporary tend tennis tension
    territory text theater theatre theme theory therapy thick thin thousand threat threaten throne
    throw tie tip tissue tone tool topic touch tour tourism tourist tournament toward tower toxic toy
    track tradition traffic tragedy trail training transfer transform transition translate
    translation transmit transport transportation travel treasure treatment treaty tree trend trial
    tribe tribute trip tropical trouble truck trust truth tunnel twin typical ultimate uncle
    undergo undergraduate union universal universe unknown update upper urban user usage valley
    valuable van vehicle venture venue versus vessel veteran viable vice victim village violence
    violent virtual virus visible vision visitor visual vocal voice volume volunteer vote voter
    wage wait walk wall want warm warn wash waste wave weak wealth weapon wear weather web website
    wedding weekend weekly weight welcome welfare western wheel wife wild wildlife wind window wine
    wing winner winter wish witness wonder wood wooden worker workshop worldwide worry worth
    wound writer yard yellow york youth zone
    """.split()
)
