"""The methods of the Bot API for files."""

from pydantic import JsonValue

from parley.testing.emulators import telegram_params as params
from parley.testing.emulators.telegram_params import Upload, bad_request
from parley.testing.emulators.telegram_posting import Posting, checked
from parley.testing.emulators.telegram_state import DOWNLOAD_LIMIT, StoredFile

MAX_CAPTION = 1024


class Files(Posting):
    """Implementation of the methods that send files and give them to the bot."""

    def send_photo(self, asked: params.SendPhoto) -> JsonValue:
        return self._post_file(asked, photo=self._stored(asked.photo))

    def send_document(self, asked: params.SendDocument) -> JsonValue:
        return self._post_file(asked, document=self._stored(asked.document))

    def get_file(self, asked: params.GetFile) -> JsonValue:
        file = self._world.file(asked.file_id)
        if file is None:
            raise bad_request("invalid file_id")
        if len(file.content) > DOWNLOAD_LIMIT:
            raise bad_request("file is too big")
        return {**file.to_json(), "file_path": file.path}

    def _stored(self, given: str | Upload) -> StoredFile:
        if isinstance(given, Upload):
            if not given.content:
                raise bad_request("file must be non-empty")
            return self._world.store(given.name, given.mime, given.content)
        known = self._world.file(given)
        if known is None:
            raise bad_request("wrong remote file identifier specified: Wrong string length")
        return known

    def _post_file(
        self, asked: params.SendMedia, photo: StoredFile | None = None, document: StoredFile | None = None
    ) -> JsonValue:
        room = self._room(asked.chat_id)
        text, entities = checked(asked.caption, asked.caption_entities, MAX_CAPTION, "message caption is too long")
        return self._post(room, asked, text, entities, photo, document)
