"""Discord's gateway: sessions, their numbered events, and the sockets that carry them."""

import asyncio
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from aiohttp import WSMsgType, web
from pydantic import JsonValue

from parley.testing.emulators.control import Changes, Faults
from parley.testing.emulators.discord_session import PRIVILEGED, Event, Frame, Intent, Session, shard_of
from parley.testing.emulators.discord_socket import Socket
from parley.testing.emulators.discord_state import Json

DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, RESUME, RECONNECT, MEMBERS, INVALID, HELLO, ACK = (
    0,
    1,
    2,
    3,
    6,
    7,
    8,
    9,
    10,
    11,
)
GATEWAY_PATHS = "/gw", "/gw-resume"
MAX_PAYLOAD = 4096
SENDS_A_MINUTE = 120
IDENTIFIES_A_DAY = 1000
DAY = 86_400.0
GREETINGS = {"READY", "RESUMED"}
ENDING = {1000, 1001, 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014}
"""Close codes after which a session cannot be resumed."""


class Host(Protocol):
    """The rest of the emulator, as the gateway needs it."""

    def greet(self, session: Session) -> tuple[Json, list[Event]]:
        """Return the data of READY, and the servers that follow it."""
        ...

    def members(self, asked: Json) -> Json:
        """Return the response to a request for a server's members."""
        ...


@dataclass
class Gateway:
    """The gateway; a client that identifies receives what its intents allow."""

    token: str
    granted: Intent
    faults: Faults
    changes: Changes
    clock: Callable[[], float]
    violate: Callable[[str], None]
    host: "Host | None" = None
    withhold_acks: bool = False
    heartbeat_seconds: float = 41.25
    identifies_left: int = IDENTIFIES_A_DAY
    max_concurrency: int = 1
    """Sessions that may be started in five seconds: 1 for most bots, more for large ones."""
    shards: int = 1
    """The number of shards that GET /gateway/bot names."""
    least_shards: int = 1
    """The number of shards that the bot needs, as it is in so many servers."""
    identified_at: list[float] = field(default_factory=list)
    """The time of each session start."""
    identified: Intent = Intent.NONE
    """Intents of the last IDENTIFY."""
    intents_used: Intent = Intent.NONE
    resumes: int = 0
    sessions: dict[str, Session] = field(default_factory=dict)
    sockets: list[Socket] = field(default_factory=list)
    _kept_back: list[Event] = field(default_factory=list)
    _day_began: float | None = None

    # Actions of the emulator and its users

    @property
    def connected(self) -> bool:
        return any(each.greeted and each.close_code is None for each in self.sockets)

    @property
    def unheard(self) -> int:
        newest = {(each.shard, each.shards): each for each in self.sessions.values()}
        return len(self._kept_back) + sum(each.seq - each.confirmed for each in newest.values())

    @property
    def about(self) -> Json:
        """Return the number of shards and the session limit as in GET /gateway/bot."""
        began = self.clock() if self._day_began is None else self._day_began
        limit: Json = {
            "total": IDENTIFIES_A_DAY,
            "remaining": self.identifies_left,
            "reset_after": int(max(0.0, began + DAY - self.clock()) * 1000),
            "max_concurrency": self.max_concurrency,
        }
        return {"shards": self.shards, "session_start_limit": limit}

    def dispatch(self, event: Event) -> None:
        """Send to every session of its shard with the intents; a disconnected client gets it when it resumes."""
        if self.faults.reordering:
            self._kept_back.append(event)
            self.faults.reordering -= 1
            if self.faults.reordering:
                return
            late, self._kept_back = self._kept_back[::-1], []
            for each in late:
                self._tell(each)
            return
        self._tell(event)

    def _tell(self, event: Event) -> None:
        of_shard = [each for each in self.sessions.values() if each.receives(event.guild)]
        hearing = [each for each in of_shard if not event.needs & ~each.intents]
        twice = self.faults.duplicates > 0 and bool(hearing)
        for session in hearing:
            self.intents_used |= event.needs
            if event.content and session.intents & Intent.MESSAGE_CONTENT:
                self.intents_used |= Intent.MESSAGE_CONTENT
            self._number(session, event.name, event.build(session.intents), own=event.own)
            if twice:
                self._send(session, session.frames[-1])
        self.faults.duplicates -= twice
        self.changes.notify()

    def push(self, event: Json | str) -> None:
        """Send anything: a dict with `t` and `d` is numbered as a dispatch, other dicts and text are sent unchanged."""
        for session in self.sessions.values():
            if isinstance(event, dict) and "t" in event and "op" not in event:
                self._number(session, str(event["t"]), event.get("d"), own=False)
            elif session.socket is not None:
                session.socket.outgoing.put_nowait(event if isinstance(event, str) else json.dumps(event))
        self.changes.notify()

    def redeliver(self, count: int) -> None:
        """Send the last events caused by users once more, with their old numbers."""
        for session in self.sessions.values():
            for frame in [each for each in session.frames if not each.own][-count:]:
                self._send(session, frame)

    def solicit(self) -> None:
        self._to_all(HEARTBEAT)

    def reconnect(self) -> None:
        self._to_all(RECONNECT)

    def invalidate(self, *, resumable: bool) -> None:
        if not resumable:
            self.forget()
        self._to_all(INVALID, resumable)

    def close(self, code: int) -> None:
        if code in ENDING:
            self.forget()
        for each in self.sockets:
            each.close(code)

    def forget(self) -> None:
        """Make all sessions impossible to resume, without touching open sockets."""
        for each in list(self.sessions.values()):
            each.resumable = False
            if each.socket is None:
                del self.sessions[each.id]

    def _to_all(self, op: int, data: JsonValue = None) -> None:
        for each in self.sockets:
            if each.greeted:
                each.put(op, data)

    def _number(self, session: Session, name: str, data: JsonValue, *, own: bool) -> None:
        session.seq += 1
        text = json.dumps({"t": name, "s": session.seq, "op": DISPATCH, "d": data})
        session.frames.append(Frame(session.seq, text, own or name in GREETINGS or name == "GUILD_CREATE"))
        self._send(session, session.frames[-1])

    def _send(self, session: Session, frame: Frame) -> None:
        if session.socket is not None:
            session.socket.outgoing.put_nowait(frame.text)

    @property
    def _asked(self) -> Host:
        if self.host is None:
            raise AssertionError("nobody stands behind the gateway")
        return self.host

    # Sockets

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection, from HELLO to its end."""
        compress = request.query.get("compress", "")
        if request.query.get("encoding") != "json" or request.query.get("v") != "10":
            self.violate(f"gateway with {request.query_string}")
        if compress not in ("", "zlib-stream"):
            self.violate(f"the emulator has no compression {compress}")
        response = web.WebSocketResponse(max_msg_size=0, autoping=True)
        await response.prepare(request)
        socket = Socket(response, compressed=compress == "zlib-stream")
        self.sockets.append(socket)
        socket.put(HELLO, {"heartbeat_interval": int(self.heartbeat_seconds * 1000)})
        writer = asyncio.create_task(self._write(socket))
        try:
            async for message in response:
                if message.type is WSMsgType.TEXT:
                    self._hear(socket, message.data)
                else:
                    self.violate(f"the gateway got a frame of type {message.type!r}")
        finally:
            writer.cancel()
            self._lose(socket)
        return response

    async def _write(self, socket: Socket) -> None:
        try:
            await socket.write()
        except (ConnectionError, RuntimeError):
            # The client went away; its reader notices that too.
            return

    def _lose(self, socket: Socket) -> None:
        self.sockets.remove(socket)
        session = self.sessions.get(socket.session_id)
        if session is not None and session.socket is socket:
            session.socket = None
            ended = socket.close_code is None and socket.response.close_code in (1000, 1001)
            if ended or not session.resumable:
                self.sessions.pop(session.id, None)
        self.changes.notify()

    def _hear(self, socket: Socket, text: str) -> None:
        now = self.clock()
        socket.heard.append(now)
        while socket.heard[0] <= now - 60:
            socket.heard.popleft()
        if len(socket.heard) > SENDS_A_MINUTE:
            socket.close(4008)
            return
        try:
            payload = json.loads(text)
            op, data = payload["op"], payload.get("d")
        except (ValueError, TypeError, KeyError):
            socket.close(4002)
            return
        if len(text.encode()) > MAX_PAYLOAD:
            socket.close(4002)
            return
        self._obey(socket, op, data)
        self.changes.notify()

    def _obey(self, socket: Socket, op: int, data: JsonValue) -> None:
        session = self.sessions.get(socket.session_id)
        match op:
            case 1:
                self._beat(socket, session, data)
            case 2 | 6 if not isinstance(data, dict):
                socket.close(4002)
            case 2 if socket.session_id:
                socket.close(4005)
            case 2 if isinstance(data, dict):
                self._identify(socket, data)
            case 6 if isinstance(data, dict):
                self._resume(socket, data)
            case _ if session is None:
                socket.close(4003)
            case 3:
                pass
            case 8 if isinstance(data, dict):
                self._number(session, "GUILD_MEMBERS_CHUNK", self._asked.members(data), own=True)
            case _:
                self.violate(f"gateway op {op}")
                socket.close(4001)

    def _beat(self, socket: Socket, session: Session | None, seq: JsonValue) -> None:
        if session is not None and isinstance(seq, int):
            session.confirmed = max(session.confirmed, seq)
        if not self.withhold_acks:
            socket.put(ACK)

    def _identify(self, socket: Socket, data: Json) -> None:
        bits = data.get("intents")
        if data.get("token") != self.token:
            socket.close(4004)
        elif not isinstance(bits, int) or bits & ~sum(Intent):
            socket.close(4013)
        elif bits & PRIVILEGED & ~self.granted:
            socket.close(4014)
        elif self.identifies_left <= 0:
            # Discord then ends all sessions and resets the token.
            self.token = secrets.token_hex()
            self.close(4004)
        elif (shard := shard_of(data)) is None:
            socket.close(4010)
        elif shard[1] < self.least_shards:
            socket.close(4011)
        else:
            self._begin(socket, Intent(bits), *shard)

    def _begin(self, socket: Socket, intents: Intent, shard: int, shards: int) -> None:
        if self._day_began is None:
            self._day_began = self.clock()
        self.identifies_left -= 1
        self.identified_at.append(self.clock())
        self.identified = intents
        for each in list(self.sessions.values()):
            if each.socket is None and (each.shard, each.shards) == (shard, shards):
                del self.sessions[each.id]
        session = Session(secrets.token_hex(16), intents, shard, shards, socket=socket)
        self.sessions[session.id] = session
        socket.session_id = session.id
        ready, servers = self._asked.greet(session)
        self._number(session, "READY", ready, own=True)
        for event in servers:
            if not event.needs & ~intents:
                self.intents_used |= event.needs
                self._number(session, event.name, event.build(intents), own=True)
        socket.greeted = True

    def _resume(self, socket: Socket, data: Json) -> None:
        session, seq = self.sessions.get(str(data.get("session_id"))), data.get("seq")
        if data.get("token") != self.token:
            socket.close(4004)
        elif session is None or not session.resumable:
            socket.put(INVALID, data=False)
        elif not isinstance(seq, int) or seq > session.seq:
            socket.close(4007)
        else:
            if session.socket is not None:
                session.socket.close(4000)
            session.socket, socket.session_id = socket, session.id
            session.confirmed = max(session.confirmed, seq)
            for frame in session.frames[seq:]:
                self._send(session, frame)
            self._number(session, "RESUMED", {"_trace": ["emulated"]}, own=True)
            self.resumes += 1
            socket.greeted = True
