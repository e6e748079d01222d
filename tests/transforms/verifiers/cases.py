"""Claims and passages with one obvious answer each, written for these tests."""

CURIE = (
    "Marie Curie was a physicist and chemist. She was the first person to win two Nobel Prizes, in "
    "1903 and 1911."
)
DANUBE = "The Danube is a river in Europe. The Danube flows through ten countries."
NAPOLEON = "Napoleon died on May 5, 1821 on Saint Helena."
EINSTEIN = "Albert Einstein (14 March 1879 – 18 April 1955) was a German physicist."
APPLE = "Apple was founded by Steve Jobs, Steve Wozniak and Ronald Wayne in April 1976."

SUPPORTED = [
    ("Marie Curie won two Nobel Prizes.", CURIE),
    ("China has 1.4 billion people.", "China has a population of 1,400 million people."),
    ("Berlin has 3.7 million inhabitants.", "Berlin has 3,677,472 inhabitants."),
    ("There are 12 apostles.", "There are twelve apostles in the story."),
    ("The castle was built in the 19th century.", "The castle was built in 1850 by a duke."),
    ("Napoleon died on 5 May 1821.", NAPOLEON),
    ("Albert Einstein was a physicist from Germany.", EINSTEIN),
    ("Pluto is not a planet.", "Pluto is a dwarf world and not a planet."),
    ("Apple was founded in 1976 by Steve Jobs.", APPLE),
    ("Zoë Müller wrote the novel.", "The novel was written by Zoe Muller."),
]

# (claim, passage, what the rationale names)
REFUTED = [
    ("The Danube flows through eight countries.", DANUBE, "ten"),
    ("Napoleon died in 1815.", NAPOLEON, "May 5 1821"),
    ("Apple was founded in 1980.", APPLE, "April 1976"),
    ("Marie Curie died in 1944.", "Marie Curie was a chemist. She died in 1934.", "1934"),
    ("Titanic was directed by Ann Lee.", "Titanic was directed by James Cameron.", "James Cameron"),
    ("The expedition reached the pole.", "The expedition failed to reach the pole.", "failed"),
    ("Pluto is a planet.", "Pluto is not a planet.", "not"),
    ("He never visited Paris.", "He visited Paris in 1900.", "never"),
]

NOANS = [
    ("The glacier is melting.", "The museum opened a new wing in Boston."),
    ("The Danube is polluted by factories.", DANUBE),
    ("Napoleon married Josephine in Paris.", NAPOLEON),
    ("The glacier is melting.", ""),
]
