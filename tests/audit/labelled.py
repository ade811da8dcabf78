"""Invented sessions, with what a person who reads them says became of every hit.

The labels were written with the stories, before any of them was audited: what a reader takes from
the transcript, not what the rules make of it. "overlapping" stands for a hit that was used in words
of the model's own.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.audit.sessions import Doc, Story

STORIES: list[Callable[[], Story]] = []


def story(write: Callable[[Story], None]) -> Callable[[Story], None]:
    def tell() -> Story:
        told = Story(id=f"{len(STORIES):032x}", cwd=f"/home/ada/{write.__name__}")
        told.add(type="session_info", name=write.__name__.replace("_", " "))
        write(told)
        return told

    STORIES.append(tell)
    return write


@story
def lighthouse_by_id(s: Story) -> None:
    s.user("When does the lamp get cleaned, and who has the key to the gallery?")
    s.search(
        "lamp cleaning gallery key",
        Doc(41, "Lamp care", "The lens is wiped with vinegar every second Tuesday.", "cited"),
        Doc(42, "Keys", "Marit keeps the gallery key behind the barometer.", "cited"),
        Doc(43, "Fog horn", "The horn sounds twice a minute below one mile.", "unused"),
        Doc(44, "Paint", "White lead is no longer allowed on the tower.", "unused"),
    )
    s.say("Every second week, see [doc 41]. Marit has it [Doc 42].")
    s.user("Thanks.")
    s.say("You are welcome.")


@story
def several_at_once(s: Story) -> None:
    s.user("Compare our three ferries.")
    s.search(
        "ferries",
        Doc(7, "Ferry Sigrun", "Carries 140 people and 22 cars.", "cited"),
        Doc(8, "Ferry Alva", "Carries 90 people, no cars.", "cited"),
        Doc(9, "Ferry Tove", "Laid up since March.", "cited"),
        Doc(10, "Pier", "The pier was widened for lorries.", "unused"),
    )
    s.say("Two of them sail (docs 7 and 8); the third does not, according to doc #9.")


@story
def by_title(s: Story) -> None:
    s.user("How do we bake the rye bread again?")
    s.search(
        "rye bread",
        Doc(201, "Rye Loaf of 1987", "Scald the rye the evening before.", "cited"),
        Doc(202, "oven-notes.md", "The left oven runs twenty degrees hot.", "cited"),
        Doc(203, "Flour orders", "Two sacks a week from the mill at Brede.", "unused"),
        Doc(204, "error log", "The mixer stopped on Friday.", "unused"),
    )
    s.say(
        "As in **Rye Loaf of 1987**: begin the evening before. `oven-notes.md` warns about the "
        "oven. I keep an error log of what goes wrong, and flour orders can wait."
    )


@story
def title_was_the_users(s: Story) -> None:
    s.user("What does the Harbour Handbook say about moorings?")
    s.search(
        "moorings",
        Doc(31, "Harbour Handbook", "Moor with two lines at the stern.", "overlapping"),
        Doc(32, "Visitors", "Guests pay at the kiosk.", "unused"),
    )
    s.say("The Harbour Handbook wants you to moor by the stern, using two separate lines.")


@story
def cited_in_thought_and_in_a_file(s: Story) -> None:
    s.user("Write the packing list.")
    s.search(
        "packing list winter",
        Doc(61, "Winter kit", "Crampons, rope of sixty metres, stove.", "cited"),
        Doc(62, "Summer kit", "Sandals and a hat.", "unused"),
        Doc(63, "Medicine", "Tablets against altitude, one strip each.", "cited"),
    )
    s.say("I will write it down.", thinking="The list of doc 61 is the right one for January.")
    s.call(
        "write",
        {"path": "list.md", "content": "# Packing\n\nMedicine as in [doc 63].\n"},
        output="ok",
    )
    s.say("Done.")


@story
def opened(s: Story) -> None:
    s.user("Find the contract with the mill and read it.")
    s.search(
        "mill contract",
        Doc(301, "Contract with the mill", "Between us and the mill at Brede…", "opened"),
        Doc(302, "Mill visit", "We saw the new stones.", "unused"),
        Doc(303, "Old contract", "Ended last year.", "unused"),
    )
    s.read(301, "Contract with the mill", "Notice is three months to the end of a quarter.")
    s.say("It can be ended at the close of a quarter, ninety days ahead.")


@story
def opened_in_vain(s: Story) -> None:
    s.user("Is there anything on the boiler?")
    s.search(
        "boiler",
        Doc(310, "Boiler", "Installed by Hagen.", "unused"),
        Doc(311, "Radiators", "Bleed them in October.", "opened"),
    )
    s.read_in_vain(310)
    s.read(311, "Radiators", "Bleed them in October, from the bottom up.")
    s.say("Nothing that helps, I am afraid.")


@story
def opened_through_another_tool(s: Story) -> None:
    s.user("What about the roof?")
    s.search(
        "roof",
        Doc(320, "Roof survey", "Slates are loose at the north gable.", "opened"),
        Doc(321, "Gutters", "Cleared in autumn.", "unused"),
    )
    inner = {"tool_call_id": "x/1", "tool_name": "jmfts_read", "status": "ok"}
    inner |= {"duration_ms": 12.5, "args": {"doc_id": 320}}
    s.call(
        "call_tool",
        {"name": "jmfts_read", "arguments": {"doc_id": 320}},
        output="[doc 320] Roof survey (usetype=note, parent=None)\n\nSlates are loose.",
        details={"nested_calls": [inner]},
    )
    s.labels.append("")
    s.say("It needs a roofer.")


@story
def quoted(s: Story) -> None:
    s.user("What is our rule for leave?")
    s.search(
        "leave rule",
        Doc(
            401,
            "Leave",
            "Leave is asked for in writing at least fourteen days ahead, and granted by the "
            "head of the shift unless two others of it are away.",
            "quoted",
        ),
        Doc(402, "Sickness", "Call before the shift begins.", "unused"),
        Doc(403, "Shifts", "There are three shifts, changing on Sundays at noon.", "unused"),
    )
    s.say(
        "The rule: leave is asked for in writing at least fourteen days ahead, and granted by "
        "the head of the shift."
    )


@story
def quoted_in_code(s: Story) -> None:
    s.user("Put the retry settings into the config.")
    s.search(
        "retry settings",
        Doc(
            410,
            "Retry settings",
            "max_attempts = 7 base_delay_ms = 250 cap_ms = 30000 jitter = full",
            "quoted",
        ),
        Doc(411, "Timeouts", "connect_timeout = 3 read_timeout = 20", "unused"),
    )
    s.call(
        "write",
        {
            "path": "retry.toml",
            "content": "[retry]\nmax_attempts = 7\nbase_delay_ms = 250\ncap_ms = 30000\n",
        },
        output="wrote retry.toml",
    )
    s.say("The file is written.")


@story
def quoted_with_other_signs(s: Story) -> None:
    s.user("How do I wake the old plotter?")
    s.search(
        "plotter",
        Doc(
            420,
            "Plotter",
            "Hold the green button, count to nine, then press REWIND twice while the lid is open.",
            "quoted",
        ),
        Doc(421, "Printer", "Paper is in the cellar.", "unused"),
    )
    s.say("> hold the green button — count to nine —\n> then press *rewind* twice (lid open).")


@story
def the_users_own_words(s: Story) -> None:
    s.user(
        "Remember: the boat leaves from the eastern pier at six in the morning sharp. "
        "Do we have that anywhere?"
    )
    s.search(
        "boat leaves eastern pier",
        Doc(
            430,
            "Departures",
            "The boat leaves from the eastern pier at six in the morning sharp.",
            "unused",
        ),
        Doc(431, "Tickets", "Sold on board.", "unused"),
    )
    s.say("So: the boat leaves from the eastern pier at six in the morning sharp. Noted.")


@story
def said_before_by_the_model(s: Story) -> None:
    s.user("Describe the alarm.")
    s.say("The alarm rings three short times and one long time, then stops for a minute.")
    s.user("Is that written down?")
    s.search(
        "alarm",
        Doc(
            440,
            "Alarm",
            "The alarm rings three short times and one long time, then stops for a minute.",
            "unused",
        ),
    )
    s.say("Again: the alarm rings three short times and one long time, then stops for a minute.")


@story
def two_that_say_the_same(s: Story) -> None:
    s.user("What is the wifi rule?")
    s.search(
        "wifi rule",
        Doc(
            450,
            "Wifi",
            "Guests get a voucher of twenty-four hours from the desk and never the staff key.",
            "overlapping",
        ),
        Doc(
            451,
            "Copy of Wifi",
            "Guests get a voucher of twenty-four hours from the desk and never the staff key.",
            "overlapping",
        ),
        Doc(452, "Cables", "Blue is for phones.", "unused"),
    )
    s.say("guests get a voucher of twenty-four hours from the desk and never the staff key")


@story
def in_words_of_its_own(s: Story) -> None:
    s.user("Why was the launch late?")
    s.search(
        "launch late",
        Doc(
            501,
            "Launch review",
            "The gyroscope calibration drifted by 0.37 degrees overnight, so Ines ordered a "
            "recalibration that took 95 minutes.",
            "overlapping",
        ),
        Doc(502, "Weather", "Clear skies and a light breeze from the west.", "unused"),
        Doc(503, "Crew", "Ines, Pavel and Odd were on duty.", "unused"),
    )
    s.say("Because recalibration of the gyroscope cost 95 minutes after it had drifted.")


@story
def nothing_of_it(s: Story) -> None:
    s.user("How should I name the new service?")
    s.search(
        "service name",
        Doc(511, "Naming", "Rivers for services, mountains for machines.", "unused"),
        Doc(512, "Services", "Elbe, Oder and Spree are taken.", "unused"),
        Doc(513, "Machines", "Brocken was switched off.", "unused"),
    )
    s.say("I would call it after what it does, so that nobody has to look it up.")


@story
def nothing_follows(s: Story) -> None:
    s.user("Look for the invoice.")
    s.search(
        "invoice",
        Doc(521, "Invoice 88", "Payable within thirty days.", "unknown"),
        Doc(522, "Invoice 89", "Paid.", "unknown"),
    )


@story
def stopped_before_it_answered(s: Story) -> None:
    s.user("Look for the other invoice.")
    s.search("other invoice", Doc(531, "Invoice 90", "Payable at once.", "unknown"))
    s.say(stop_reason="aborted")


@story
def folded_before_it_answered(s: Story) -> None:
    s.user("Gather everything on the bridge.")
    s.search(
        "bridge",
        Doc(541, "Bridge", "Closed to lorries over twelve tonnes.", "unknown"),
        Doc(542, "Ferry", "Every half hour.", "unknown"),
    )
    kept = s.user("Go on.")
    s.compact(kept)
    s.say("What would you like me to do next?")


@story
def folded_after_it_answered(s: Story) -> None:
    s.user("Gather everything on the tunnel.")
    s.search(
        "tunnel",
        Doc(551, "Tunnel", "Open at night only.", "cited"),
        Doc(552, "Road", "Repaved.", "unused"),
    )
    s.say("It is open at night only [doc 551].")
    kept = s.user("Go on.")
    s.compact(kept)
    s.say("What would you like me to do next?")


@story
def used_on_a_branch_that_was_left(s: Story) -> None:
    s.user("Which train?")
    result = s.search(
        "train",
        Doc(561, "Trains", "The 8:14 has a dining car.", "cited"),
        Doc(562, "Buses", "Line 9 runs hourly.", "unused"),
    )
    s.say("Take the 8:14, see [doc 561].")
    s.user("No, differently.")
    s.at = result
    s.say("Take the train that suits you best.")


@story
def cited_where_it_was_not_seen(s: Story) -> None:
    start = s.user("Which hotel?")
    s.search("hotel", Doc(571, "Hotels", "The Anker has a lift.", "unused"))
    s.say("I have no idea.")
    s.at = start
    s.say("The one of [doc 571], if I remember it.")


@story
def cited_before_it_was_found(s: Story) -> None:
    s.user("As [doc 581] says, we meet at nine. Correct?")
    s.say("You mean [doc 581]; let me look.")
    s.search("meeting", Doc(581, "Meetings", "We meet at half past nine.", "unused"))
    s.say("I could not make sense of it.")


@story
def found_twice(s: Story) -> None:
    s.user("Who repairs clocks?")
    s.search(
        "clocks",
        Doc(591, "Clockmakers", "Nilsen in the Strandgate.", "cited"),
        Doc(592, "Watches", "Nobody.", "unused"),
    )
    s.search("clock repair", Doc(591, "Clockmakers", "Nilsen in the Strandgate.", "cited"))
    s.say("There is one in town [doc 591].")


@story
def pages_are_not_documents(s: Story) -> None:
    s.user("Is the report long?")
    s.search(
        "report",
        Doc(12, "Annual report", "Turnover grew.", "unused"),
        Doc(30, "Budget", "Drafted in May.", "unused"),
    )
    s.say("It is a document 12 pages long, with 30 figures.")


@story
def in_other_scripts(s: Story) -> None:
    s.user("会議の予定を教えて")
    s.search(
        "会議 予定",
        Doc(601, "会議予定", "定例会議は毎週火曜日の午前十時から第三会議室で行う。", "quoted"),
        Doc(602, "休日", "年末は休みです。", "unused"),
    )
    s.say("定例会議は毎週火曜日の午前十時から第三会議室です。")
    s.user("Und die Schlüssel?")
    s.search(
        "Schlüssel",
        Doc(603, "Schlüsselbuch", "Müller verwahrt den Generalschlüssel im Tresor.", "cited"),
        Doc(604, "Türen", "Die Hintertür klemmt bei Regen.", "unused"),
    )
    s.say("Der Generalschlüssel liegt laut Schlüsselbuch [doc 603] sicher verwahrt.")


@story
def a_short_hit(s: Story) -> None:
    s.user("What is the code word?")
    s.search(
        "code word",
        Doc(611, "Code", "Purple heron walks backwards", "quoted"),
        Doc(612, "Password", "Changed.", "unused"),
    )
    s.say("It is: purple heron walks backwards.")


@story
def a_long_turn(s: Story) -> None:
    s.user("Fix the importer.")
    s.search(
        "importer",
        Doc(
            621,
            "Importer",
            "Rows with a negative quantity are returns: book them on account 4711 and never drop "
            "them, or the quarterly figures are wrong.",
            "quoted",
        ),
        Doc(622, "Exporter", "Writes one file per month.", "unused"),
        Doc(623, "Accounts", "4711 returns, 4712 rebates, 4713 samples.", "unused"),
    )
    s.call("read", {"path": "importer.py"}, output="def load(): ...")
    s.call(
        "edit",
        {
            "path": "importer.py",
            "old": "pass",
            "new": "# rows with a negative quantity are returns: book them on account 4711\n",
        },
        output="ok",
    )
    s.call("bash", {"command": "pytest -q"}, output="3 passed")
    s.say("The importer keeps them now.")


@story
def two_turns_later(s: Story) -> None:
    s.user("Look into the archive for the founding date.")
    s.search(
        "founding date",
        Doc(631, "Chronicle", "Founded on the third of May 1871 by Lovise Dahl.", "cited"),
        Doc(632, "Statutes", "Amended in 1950.", "unused"),
    )
    s.say("Found it.")
    s.user("Write a line for the plaque.")
    s.say("Here it is.")
    s.user("Where is it from?")
    s.say("From the chronicle, [doc 631].")


@story
def many_hits_two_used(s: Story) -> None:
    s.user("Prepare the talk on tides.")
    s.search(
        "tides talk",
        Doc(
            641, "Spring tides", "Twice a month sun and moon pull together and it rises.", "unused"
        ),
        Doc(
            642,
            "Tide tables",
            "The tables of the harbour office give times in local winter time all year round, so "
            "add an hour from April to October.",
            "quoted",
        ),
        Doc(643, "Tide mill", "Built in 1612, it grinds on the ebb only.", "cited"),
        Doc(644, "Moon", "Full on the ninth.", "unused"),
        Doc(645, "Boats", "Aground twice last year.", "unused"),
        Doc(646, "Old talk", "It lasted too long.", "unused"),
    )
    s.call(
        "write",
        {
            "path": "talk.md",
            "content": "1. Give times in local winter time all year round, so add an hour from "
            "April.\n2. The mill (see doc 643) works on the ebb.",
        },
        output="ok",
    )
    s.say("The outline is in talk.md.")


@story
def common_phrases_are_nobodys(s: Story) -> None:
    s.user("Why did the build fail?")
    s.search(
        "build fail",
        Doc(651, "Build", "It did not work, as far as I can see, because of the cache.", "unused"),
        Doc(652, "Cache", "Cleared every night at two.", "unused"),
    )
    s.say("As far as I can see, the compiler is missing.")


@story
def a_list_that_looks_like_ids(s: Story) -> None:
    s.user("How many are there of each?")
    s.search(
        "stock",
        Doc(3, "Stock", "Counted in May.", "unused"),
        Doc(4, "Orders", "Sent weekly.", "unused"),
    )
    s.say("Apples: 3, pears: 4. I looked at the documents 3 times.")


@story
def quoted_in_german(s: Story) -> None:
    s.user("Wie lange gilt der Ausweis?")
    s.search(
        "Ausweis Gültigkeit",
        Doc(
            661,
            "Ausweise",
            "Der Ausweis gilt für zwölf Monate ab Ausstellung und erlischt beim Austritt von "
            "selbst, ohne dass es einer Kündigung bedürfte.",
            "quoted",
        ),
        Doc(662, "Schlüssel", "Werden gegen Quittung ausgegeben.", "unused"),
    )
    s.say("Kurz: Der Ausweis gilt für zwölf Monate ab Ausstellung und erlischt beim Austritt.")


@story
def quoted_by_half_on_two_branches(s: Story) -> None:
    s.user("What must a guest bring?")
    result = s.search(
        "guest list",
        Doc(
            671,
            "Guests",
            "A guest brings a sleeping bag, a torch with fresh batteries and warm socks for two "
            "nights.",
            "quoted",
        ),
        Doc(672, "Hosts", "A host brings soup.", "unused"),
    )
    s.say("Ask them.")
    s.at = result
    s.say("- a torch with fresh batteries and warm socks for two nights")


@story
def the_tool_output_repeats_it(s: Story) -> None:
    s.user("Check the licence header.")
    header = "Permission is granted to copy this file for any purpose without a fee."
    s.search(
        "licence header",
        Doc(681, "Licence", header, "unused"),
        Doc(682, "Copyright", "Held by the guild.", "unused"),
    )
    s.call("read", {"path": "a.c"}, output=f"/* {header} */")
    s.say("The header is there.")


@story
def opened_twice_of_three(s: Story) -> None:
    s.user("Read what we have on the bell.")
    s.search(
        "bell",
        Doc(691, "Bell", "Cast in bronze.", "opened"),
        Doc(692, "Bell rope", "Renewed.", "opened"),
        Doc(693, "Belfry", "Closed to visitors.", "unused"),
    )
    s.read(691)
    s.read(692)
    s.say("Both say little.")


@story
def named_in_small_letters_in_quotes(s: Story) -> None:
    s.user("Is there a note about mushrooms?")
    s.search(
        "mushrooms",
        Doc(701, "autumn walk", "Chanterelles under the third birch.", "cited"),
        Doc(702, "spring walk", "Nothing yet.", "unused"),
    )
    s.say('Yes, "autumn walk" tells where they grow; a spring walk would be too early.')


@story
def a_longer_paraphrase(s: Story) -> None:
    s.user("What happened to the server in June?")
    s.search(
        "server June",
        Doc(
            711,
            "Incident",
            "On the fourteenth the replication lag grew to 47 minutes because Kestrel's vacuum "
            "was blocked by a forgotten transaction.",
            "overlapping",
        ),
        Doc(712, "Servers", "Kestrel and Merlin are in the cellar, Hobby in the attic.", "unused"),
    )
    s.say(
        "A transaction somebody had forgotten blocked the vacuum; replication fell behind by "
        "47 minutes."
    )


@story
def the_answer_failed_and_the_next_one_did_not(s: Story) -> None:
    s.user("Which paint?")
    s.search("paint", Doc(721, "Paints", "Linseed oil on oak.", "cited"))
    s.say(stop_reason="error", error_message="overloaded")
    s.say("Linseed oil [doc 721].")
