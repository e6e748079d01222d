"""Classify words by their frequency in encyclopaedic and news prose, in three classes.

A match of a rare word says more than one of a common word: the idea behind inverse document
frequency (Spärck Jones 1972), kept as two short lists so that no corpus is needed at run time.
Words are listed in one form each; their stems count.
"""

from typing import Final

from ufo.transforms.english.word_set import word_set

VERY_COMMON: Final = word_set(
    """
    academy accord act action active actor actress additional administration adventure age air
    album allow always america american animal annual appear april area army art artist
    associate august australia australian author average award back band base battle became
    become began begin believe best big black blue book born boy british brother build built
    busy california call came canada canadian career case center central century championship
    change character chart children china city civil close club co coach collect college come
    comedy command common community company compete competition complete compose conference
    consider consist contain continue contribute corporation council country county cover create
    critic culture cup current date day de death debut december defeat department describe
    design develop die different direct director distribute district division documentary drama
    due early east edit educate eight elect end engine england english entertainment episode
    establish event example executive fact family famous father feature february federal
    festival fiction field film final find finish first five focus follow football force form
    former found four french friend full game general german get give given go gone good got
    government grand great group hall head held help high historic history hit home host hot
    house import include independent indian industry initial institute international island
    issue italian january japanese join july june kind king kingdom know known land language
    large largest last late later law lead leader league led level life light like line list
    live local locate london long love low made magazine main major make man manage march mark
    mean media member men mid middle military million modern month move movie music musician
    name nation native near need network new next nine nominate non north northern notable novel
    november now number october office official often old open operate order organize origin
    park part party people percent perform period person picture place plan play player point
    politics pop popular population position power premier present president previous private
    process produce product professional program provide public publish race radio rank reach
    receive recent record red refer region relate release remain replace represent require
    research result return right river road rock role round run said say school science season
    seat second see seen select september series serve service set seven severe short show shown
    side similar singer single six small sold sometimes son song songwriter south southern
    special species sport stage star start state station story street studio style success
    support system take taken team television ten term thing think third three throughout time
    title today took top total tour town track tradition turn two type typical unit university
    use usual various version video voice want war water way week went west western white wide
    win woman women won word work world writer written wrote year york young
    """
)

COMMON: Final = word_set(
    """
    abandon ability academic accept access accompany account achieve acquire acre actual adapt
    add address adopt adult advance advertise affair affect affiliated africa african again
    agency agent agriculture aim aircraft airline airport alcohol alliance alone alongside
    alternative amateur amount ancient anniversary announce apartment apply appoint approach
    architect architecture arrange arrive article asia asian aspect assembly assign assist
    assume atlantic attack attempt attend attention attract audience available away background
    bad bank bar baseball basic basis basketball bass bassist bay beach bear beat beautiful
    behavior behind belong benefit better bid billion bird birth birthday bit block blood board
    boat body border box branch brand break bridge brief bring britain broad broadcast brown
    businessman camp campaign campus capacity capital captain capture car card care carry cast
    castle category catholic cause celebrated census centre ceremony certain chain chair
    chairman challenge champion channel chapter charge chicago chief child chinese choice
    christian christmas church cinema circle circuit citizen claim class classic clear coast
    code cold collaborate colony color colour combat combine comedian comic comment commercial
    commission commit committee communicate communist compare compiled complex composition
    comprise computer concentrate concept concern concert conclude condition conduct confirm
    conflict congress connect consecutive conservative constitution construct consult consumer
    contemporary contest contract contrast control convention convert cook cooperation copy core
    corner correct cost count couple course court cousin creation credited crew cricket crime
    criminal cross crown customer cut dance danger dark data daughter deal dean decade decide
    decision declare dedicate deep defence defend defense define degree democrat depend deputy
    derive descendants despite destination destroy detail detective determine device difficult
    digital discover discuss disease display distinct distinguish diverse divided doctor
    document dog domestic dominate door double downtown draft draw dream drink drive driver drop
    drug drummer drums duke duo duty dynasty earlier earn earth eastern easy economic edge
    editor effect effort electric electronic element emerge emperor empire employ employee
    enable encompasses encourage enemy energy engage enjoy ensure enter entire entry environment
    equal equip equivalent era especially essential estate estimate ethnic europe european
    eventual ever evidence evolve excellent exception exchange exhibit exist expand expansion
    expect experiment expert explain explore express extend extensive extreme eye face facility
    factor faculty fail fair fall fan fantasy far farm fashion fast favor favorite feel fellow
    female fight fighter figure file fill filmmaker finance financial fine fire firm fish flight
    floor flow flower fly folk food foot foreign forest formal format formula fort forward
    fought foundation founder frame france franchise free freedom frequent front fruit ft
    function fund further future gain gang garden generate genre genus germany giant girl global
    goal god gold golden governor grade graduate grant greatest greek green gross ground grow
    growth guard guest guide guitar guitarist gun hair half hand handle happen hard
    headquartered health hear heart heavy height heritage hero higher highest highway hill hip
    hire historian hold hollywood honor honour hop hope horror horse hospital hotel hour
    household huge human hundred hunt husband ice idea identify identity illustrated image
    immediate immigrant impact improve income incorporate increase india individual influence
    influential inform inhabit inner innovation inspire install instead instrument insurance
    intelligence intend interact interest internal internet interpret interview introduce
    introduction invasion invent invest investigate invite involve iron italy item japan jazz
    job journal journalist journey judge jump junior justice keep key kill km knight label
    laboratory lack lady lake larger latin latter launch lawyer leadership learn leave left
    legal legend legislation length let letter liberal library license lie limit link literary
    literature little longest look lose loss lost lower lyric machine magic maintain male mall
    manufacture marine market marriage marry mass master match material matter mayor measure
    medal medical medicine medieval medium meet memorial mention merge metal method metre
    metropolitan mexican mexico mi mile mind minister minor minute mission mix model monarch
    money monument morning mostly mother motion motor mountain mouth movement multi multiple
    municipal murder museum mystery narrative nature navy nearby necessary neighborhood news
    newspaper nickname night normal northeast northwest norway note novelist numerous object
    obtain occasion occupy occur ocean offense offer oil older oldest olympic once online opera
    opponent oppose opposition option orchestra outside outstanding overall owner pacific paint
    painter pair palace paper parent paris parliament participate particular partner pass
    passenger past pay peace peak perhaps permanent philosopher photograph physics pick piece
    pilot pioneer planet plant platform please plot poet poetry police policy politician port
    portion portray possible post potential practice praise prepare preserve presidential press
    prevent price primarily primary prime prince princess principal principle print prior prison
    prize problem professor profit programme progress project prominent promise promote property
    propose protect prove province psychology punk purchase purpose put qualify quality quarter
    queen question quick rail railroad railway raise ran range rapid rapper rare rate read real
    reality reason rebel recognition recognize reduce reflect reform regard regiment register
    regular reign relationship religious remember remove renamed report republic republican
    reserve reside resign resort resource respect respond response rest restaurant restore
    retail retain retire reveal review revival revolution revolutionary rich ride ring rise
    rival roll roman romance romantic rome roof room root route royal rule rural russia russian
    saint sale sample san save saw scale scene schedule scholar scientific scientist score
    scottish screen screenplay screenwriter sea search secret secretary section sector secure
    segment self sell senate send senior sense separate sequel session settle settlement sex
    sexual shape share ship shoot shop shore shot sign significant silver simple simply singing
    sister sit sitcom site situation size skin slight soap soccer social society software
    soldier sole solo soon soul sound soundtrack source southeast southwest soviet space spain
    spanish speak specific speed spend spent spin spirit split sponsor spread spring squadron
    square stadium staff stand standard statistic status stay steel step stock stone stop store
    storm straight stream strike strong structure student study subject subsequent suburb
    succeed successor suggest suit summer sun super supreme sure surface surround survive switch
    talent tales talk task teach teacher technique technology teenage tell temple temporary
    tennis territory test thank theater theatre theme theory thousand thriller tie together
    tournament tower toy trade traffic tragedy trail train transfer transition translate
    transport travel treasure treat tree tribe trouble true try twin ultimate understand union
    unique universal universe upper urban valley value van varied variety vehicle venture venue
    veteran vice victory view village visit visual vocal vocalist volume volunteer vote walk
    wall watch wave web website wedding weight whole wife wild wind window wing winner winter
    wonder wood worker worldwide write wrong yard yellow younger youth
    """
)
