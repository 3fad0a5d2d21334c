"""An answer that follows a picture within a moment is its caption."""

from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage
from tests.end_to_end.test_files import CHART, SENDS

pytestmark = where(lambda facts: facts.captions)


async def test_a_short_answer_comes_under_the_picture_that_was_just_sent(own_stage: Stage) -> None:
    stage = own_stage
    stage.slow_down()  # after 1.5 s progress is shown below the picture, and becomes the answer
    await stage.start()
    ann, chat = stage.private("Ann")
    stage.script.then(SENDS, says("Here is your chart."))

    await chat.says(ann, "send it back", document=CHART)
    await chat.until(lambda c: len(c.screen) == 1 and "your chart" in c.screen[0])

    assert chat.screen[0] in ("[photo] Here is your chart.", "[chart.png] Here is your chart.")
