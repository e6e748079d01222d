import pytest

from ufo.transforms.english.words import is_english


@pytest.mark.parametrize("code", ["en", "en-GB", "en_US", "eng", "EN", " en "])
def test_a_given_english_code_decides(code: str) -> None:
    assert is_english("Der Hund schläft nicht.", code)


@pytest.mark.parametrize("code", ["de", "fr-CA", "zh", "und"])
def test_any_other_given_code_decides(code: str) -> None:
    assert not is_english("The dog is not asleep.", code)


@pytest.mark.parametrize(
    "text",
    [
        "Marie Curie", "E = mc2", "", "42", "Gödel", "Yes", "El Niño", "Jeanne d'Arc", "La Scala",
        "Birds fly.", "Leonardo da Vinci", "Vincent van Gogh painted Sunflowers.",
        "Die Hard is a film.", "He died in Rio de Janeiro.", "Le Monde is a newspaper in Paris.",
        "Tokyo (東京) is the capital of Japan.", "α + β = γ is the sum of the angles.",
        "Charles de Gaulle led France.", "She currently resides in Los Angeles, California.",
        "No mammal lays eggs.",
    ],
)  # fmt: skip
def test_english_and_what_shows_no_other_language(text: str) -> None:
    assert is_english(text)
    assert is_english(text, "")


@pytest.mark.parametrize(
    "text",
    [
        "Der Hund schläft.", "Berlin ist die Hauptstadt von Deutschland.",
        "Wien liegt an der Donau.",
        "Le chat dort sur la table.", "Marie Curie est née à Varsovie.",
        "Madrid es la capital de España.", "El perro duerme en la casa.",
        "Roma è la capitale d'Italia.", "Dante nacque a Firenze nel 1265.",
        "Lisboa é a capital de Portugal.", "Ele nasceu no Brasil.",
        "Amsterdam is de hoofdstad van Nederland.", "Hij werd geboren in Utrecht.",
        "Warszawa jest stolicą Polski.", "Zażółć gęślą jaźń", "北京是中国的首都。",
        "東京は日本の首都です。", "Москва столица России.", "القاهرة عاصمة مصر",
        "दिल्ली भारत की राजधानी है।", "서울은 대한민국의 수도이다.",
        "Stockholm är huvudstad i Sverige.",
        "No hay agua en la Luna.",
        "No habla el idioma.",
    ],
)  # fmt: skip
def test_other_languages(text: str) -> None:
    assert not is_english(text)


def test_a_few_foreign_letters_and_many_marks_are_english() -> None:
    assert is_english("“Oslo” – that’s a town… “Bergen” – that’s one, too… " * 10)
    assert is_english("The letter Ω stands for the ohm in most of the books.")
    assert not is_english("The Ωμέγα Ωμέγα Ωμέγα Ωμέγα of it.")


def test_only_the_beginning_is_looked_at() -> None:
    assert is_english("The river is long. " * 100 + "Der Fluss ist lang. " * 10_000)
