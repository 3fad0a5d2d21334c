"""JSON of Discord's users, servers, channels and messages."""

from pydantic import JsonValue

from parley.testing.emulators.discord_state import (
    DM,
    HAS_THREAD,
    THREAD,
    Channel,
    Guild,
    Interaction,
    Json,
    Message,
    Person,
    StoredFile,
    World,
)
from parley.testing.emulators.discord_text import mentioned

PERMISSIONS = {
    "ADD_REACTIONS": 1 << 6,
    "VIEW_CHANNEL": 1 << 10,
    "SEND_MESSAGES": 1 << 11,
    "EMBED_LINKS": 1 << 14,
    "ATTACH_FILES": 1 << 15,
    "READ_MESSAGE_HISTORY": 1 << 16,
    "USE_EXTERNAL_EMOJIS": 1 << 18,
    "CREATE_PUBLIC_THREADS": 1 << 35,
    "SEND_MESSAGES_IN_THREADS": 1 << 38,
    "SEND_VOICE_MESSAGES": 1 << 46,
}
EVERYTHING_GIVEN = str(sum(PERMISSIONS.values()))
LOCALES = {"en": "en-US", "es": "es-ES", "pt": "pt-BR", "sv": "sv-SE", "zh": "zh-CN"}


def user(person: Person) -> Json:
    about: Json = {
        "id": person.id,
        "username": person.username,
        "discriminator": "4242" if person.is_bot else "0",
        "global_name": None if person.is_bot else person.name,
        "avatar": None,
        "avatar_decoration_data": None,
        "banner": None,
        "accent_color": None,
        "primary_guild": None,
        "public_flags": 0,
        "flags": 0,
    }
    if person.is_bot:
        about["bot"] = True
    return about


def member(guild: Guild, person: str, *, permissions: bool = False) -> Json:
    """Return the JSON of a server member, without the user."""
    about: Json = {
        "roles": [*guild.roles_of.get(person, ())],
        "joined_at": guild.joined_at,
        "premium_since": None,
        "nick": None,
        "avatar": None,
        "pending": False,
        "mute": False,
        "deaf": False,
        "flags": 0,
        "communication_disabled_until": None,
    }
    if permissions:
        about["permissions"] = EVERYTHING_GIVEN
    return about


def thread(channel: Channel) -> Json:
    if channel.guild is None or channel.parent is None or channel.owner is None:
        raise AssertionError(f"{channel.name} is no thread")
    return {
        "id": channel.id,
        "type": THREAD,
        "guild_id": channel.guild.id,
        "parent_id": channel.parent.id,
        "owner_id": channel.owner.id,
        "name": channel.name,
        "last_message_id": next(reversed(channel.messages), None),
        "rate_limit_per_user": 0,
        "message_count": len(channel.messages),
        "total_message_sent": len(channel.messages),
        "member_count": 1,
        "flags": 0,
        "thread_metadata": {
            "archived": channel.archived,
            "auto_archive_duration": 1440,
            "archive_timestamp": channel.made,
            "create_timestamp": channel.made,
            "locked": channel.locked,
        },
    }


def channel(of: Channel) -> Json:
    if of.kind == THREAD:
        return thread(of)
    last = next(reversed(of.messages), None)
    if of.kind == DM:
        return {
            "id": of.id,
            "type": DM,
            "last_message_id": last,
            "flags": 0,
            "recipients": [user(each) for each in of.people],
        }
    return {
        "id": of.id,
        "type": of.kind,
        "guild_id": of.guild.id if of.guild else None,
        "name": of.name,
        "topic": None,
        "position": 0,
        "nsfw": False,
        "parent_id": None,
        "last_message_id": last,
        "last_pin_timestamp": None,
        "rate_limit_per_user": 0,
        "permission_overwrites": [],
        "flags": 0,
    }


def guild(of: Guild, bot: Person, *, all_members: bool) -> Json:
    """Return a server as in GUILD_CREATE. Without the GUILD_MEMBERS intent its only member is the bot."""
    people = [bot, *of.people] if all_members else [bot]
    return {
        "id": of.id,
        "name": of.name,
        "icon": None,
        "splash": None,
        "discovery_splash": None,
        "banner": None,
        "description": None,
        "owner_id": of.people[0].id if of.people else bot.id,
        "region": "deprecated",
        "afk_channel_id": None,
        "afk_timeout": 300,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "widget_enabled": False,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "nsfw": False,
        "premium_tier": of.tier,
        "premium_subscription_count": 0,
        "premium_progress_bar_enabled": False,
        "preferred_locale": "en-US",
        "rules_channel_id": None,
        "public_updates_channel_id": None,
        "safety_alerts_channel_id": None,
        "vanity_url_code": None,
        "application_id": None,
        "max_members": 500000,
        "max_video_channel_users": 25,
        "max_stage_video_channel_users": 50,
        "hub_type": None,
        "incidents_data": None,
        "features": [],
        "emojis": [],
        "stickers": [],
        "roles": roles(of),
        "joined_at": of.joined_at,
        "large": False,
        "unavailable": False,
        "member_count": len(of.people) + 1,
        "members": [{"user": user(each), **member(of, each.id)} for each in people],
        "channels": [channel(each) for each in of.channels.values() if each.kind != THREAD],
        "threads": [channel(each) for each in of.channels.values() if each.kind == THREAD and not each.archived],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def roles(of: Guild) -> list[JsonValue]:
    """Return all roles of a server; that of everybody has the server's id."""
    return [_role(of.id, "@everyone"), *(_role(role, name) for role, name in of.roles.items())]


def _role(role: str, name: str) -> Json:
    return {
        "id": role,
        "name": name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": 0,
        "permissions": EVERYTHING_GIVEN,
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }


def attachment(world: World, file: StoredFile) -> Json:
    """Return a file of a message. Letters outside of ASCII are only in its title, which has no ending."""
    address = f"{world.url}{file.path}?ex=7fffffff&is=70000000&hm=e0"
    plain = "".join(filter(str.isascii, file.name))
    about: Json = {
        "id": file.file_id,
        "filename": plain or "file",
        "size": len(file.content),
        "url": address,
        "proxy_url": address,
        "content_type": file.mime,
        "content_scan_version": 0,
    }
    if plain != file.name:
        about["title"] = file.name.rpartition(".")[0]
    about |= {"width": 800, "height": 600} if file.mime.startswith("image/") else {}
    about |= {"duration_secs": file.seconds, "waveform": file.waveform} if file.waveform is not None else {}
    return about


def message(world: World, of: Message, *, hide: bool = False, inner: bool = False) -> Json:
    """Return a message as in REST, without the nonce, which Discord does not store.

    With `hide`, parts that need the MESSAGE_CONTENT intent are left out.
    """
    hidden = hide and needs_content_intent(world, of)
    about: Json = {
        "id": of.id,
        "type": of.kind,
        "channel_id": of.channel.id,
        "author": user(of.sender),
        "content": "" if hidden or of.has_layout else of.content,
        "timestamp": of.timestamp,
        "edited_timestamp": of.edited_timestamp,
        "tts": False,
        "mention_everyone": False,
        "mentions": _mentions(world, of),
        "mention_roles": [],
        "attachments": [] if hidden or of.has_layout else [attachment(world, each) for each in of.files],
        "embeds": [] if hidden else list[JsonValue](of.embeds),
        "components": [] if hidden else of.components,
        "pinned": False,
        "flags": of.flags | (HAS_THREAD if of.thread is not None else 0),
    }
    if of.webhook_id is not None:
        about.update({"webhook_id": of.webhook_id, "application_id": of.webhook_id})
    if of.thread is not None:
        about["thread"] = thread(of.thread)
    if of.interaction is not None:
        about["interaction_metadata"] = _metadata(of.interaction)
    _add_reactions(about, of)
    _add_reference(world, about, of, hide=hide, inner=inner)
    if of.forwarded is not None:
        _add_snapshot(world, about, of.forwarded)
    return {**about, **of.more}


def needs_content_intent(world: World, of: Message) -> bool:
    """Return True if reading a message needs the intent. Bots always see private messages, their own, and those that
    mention them."""
    own = of.sender.id == world.bot.id
    return not (own or of.channel.guild is None or world.bot.id in _mentioned_ids(of))


def _mentioned_ids(of: Message) -> list[str]:
    ids = mentioned(of.content)
    if of.reference is not None and of.pings_author and of.reference.sender.id not in ids:
        ids.append(of.reference.sender.id)
    return ids


def _mentions(world: World, of: Message) -> list[JsonValue]:
    found: list[JsonValue] = []
    for each in _mentioned_ids(of):
        person = world.people.get(each)
        if person is not None:
            inside: Json = {"member": member(of.channel.guild, each)} if of.channel.guild is not None else {}
            found.append({**user(person), **inside})
    return found


def _metadata(interaction: Interaction) -> Json:
    about: Json = {
        "id": interaction.id,
        "type": interaction.kind,
        "user": user(interaction.person),
        "authorizing_integration_owners": {},
    }
    if interaction.name:
        about["name"] = interaction.name
    if interaction.message is not None:
        about["interacted_message_id"] = interaction.message.id
    return about


def _add_reactions(about: Json, of: Message) -> None:
    if of.reactions:
        about["reactions"] = [
            {
                "emoji": {"id": None, "name": emoji},
                "count": len(people),
                "count_details": {"burst": 0, "normal": len(people)},
                "burst_colors": [],
                "burst_count": 0,
                "me_burst": False,
                "me": any(each.is_bot for each in people),
            }
            for emoji, people in of.reactions.items()
        ]


def _add_reference(world: World, about: Json, of: Message, *, hide: bool, inner: bool) -> None:
    if of.reference is None:
        return
    where: Json = {"type": 0, "message_id": of.reference.id, "channel_id": of.reference.channel.id}
    if of.channel.guild is not None:
        where["guild_id"] = of.channel.guild.id
    about["message_reference"] = where
    if not inner:
        gone = of.reference.deleted
        about["referenced_message"] = None if gone else message(world, of.reference, hide=hide, inner=True)


def _add_snapshot(world: World, about: Json, of: Message) -> None:
    """Add a forwarded message, whose author Discord does not reveal."""
    about["message_reference"] = {"type": 1, "message_id": of.id, "channel_id": of.channel.id}
    told = message(world, of, inner=True)
    shown = (
        "type",
        "content",
        "timestamp",
        "edited_timestamp",
        "mentions",
        "attachments",
        "embeds",
        "components",
        "flags",
        "message_snapshots",
    )
    about["message_snapshots"] = [{"message": {name: told[name] for name in shown if name in told}}]


def event_message(world: World, of: Message, *, hide: bool) -> Json:
    """Return a message as in MESSAGE_CREATE and MESSAGE_UPDATE."""
    about = message(world, of, hide=hide)
    about["channel_type"] = of.channel.kind
    if of.nonce is not None:
        about["nonce"] = of.nonce
    if of.channel.guild is not None and not of.ephemeral:
        about["guild_id"] = of.channel.guild.id
        if of.webhook_id is None:
            about["member"] = member(of.channel.guild, of.sender.id)
    return about


def interaction(world: World, of: Interaction, data: Json) -> Json:
    """Return an interaction as in INTERACTION_CREATE."""
    where = of.channel
    about: Json = {
        "id": of.id,
        "application_id": world.bot.id,
        "type": of.kind,
        "token": of.token,
        "version": 1,
        "data": data,
        "channel_id": where.id,
        "channel": {**channel(where), "permissions": EVERYTHING_GIVEN},
        "locale": LOCALES.get(of.person.language or "en", of.person.language or "en-US"),
        "app_permissions": EVERYTHING_GIVEN,
        "entitlements": [],
        "attachment_size_limit": where.file_limit,
        "authorizing_integration_owners": of.owners,
        "context": 1 if where.guild is None else 0,
    }
    if where.guild is None:
        about["user"] = user(of.person)
    else:
        about["guild_id"] = where.guild.id
        about["guild"] = {"id": where.guild.id, "locale": "en-US", "features": []}
        about["guild_locale"] = "en-US"
        about["member"] = {"user": user(of.person), **member(where.guild, of.person.id, permissions=True)}
    if of.message is not None:
        about["message"] = message(world, of.message)
    return about


def gone_thread(of: Channel) -> Json:
    return {
        "id": of.id,
        "type": of.kind,
        "guild_id": of.guild.id if of.guild else None,
        "parent_id": of.parent.id if of.parent else None,
    }
