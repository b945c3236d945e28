"""The words that rules know: verbs by what they do to the world, and words that tell nothing."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


READING = word_set(
    """analyse analyze calculate check compare compute count describe detect diff discover download echo
    estimate evaluate examine explain export extract fetch find get inspect list locate log look lookup measure
    monitor observe peek ping poll preview profile query read recall recommend resolve retrieve return review
    sample scan search see select show simulate status suggest summarise summarize tail test trace track
    validate verify view watch weigh"""
)
"""Verbs of tools that leave the world as it is."""

DESTROYING = word_set(
    """archive bulk_delete clear delete destroy discard drop erase expunge kill overwrite purge remove reset
    revoke terminate truncate uninstall unpublish wipe"""
)
"""Verbs of tools after which something is gone."""

WRITING = word_set(
    """activate add allow append apply approve assign attach authorize bind block book build cancel change click
    clone close comment commit compose configure connect convert copy create customise customize deactivate deny
    deploy disable disconnect dismiss draft drag draw edit emulate enable execute fill format generate grant
    handle hover import insert instal install invite invoke issue join launch leave link load lock login logout
    make manage map mark merge modify mount move mute navigate notify open order pause pay perform persist pin
    play populate post press print process produce program prompt protect provision publish push put queue raise
    rebase record refresh register reject release reload rename render reopen replace reply report request
    resize restart restore resume revert roll rotate run save scale schedule scroll send set share sign simulate
    sort split stage start stop store submit subscribe swap switch sync synchronise synchronize take toggle
    train transfer transform translate trigger type unassign unblock unlink unlock unpin unprotect unregister
    unstage unsubscribe update upgrade upload upsert use wait write"""
)
"""Verbs of tools that change something and need not destroy anything."""

VERBS = (
    READING
    | DESTROYING
    | WRITING
    | word_set(
        """abort accept access acknowledge acquire act adapt adjust administer advance aggregate aim align
    allocate alter amplify annotate anonymize answer archive arrange ask assemble assess associate attempt audit
    augment authenticate autocomplete await backup balance ban begin bid blend boost bootstrap break bring
    broadcast browse bulk bump burn buy cache calibrate call capture carry cast catalog catch categorise
    categorize certify chain charge chart chat choose claim clarify classify clean clip code collapse collect
    combine command commence compact compensate compile complete compress concatenate condense conduct configure
    confirm conjugate construct consult contain continue contrast contribute control convene coordinate
    correlate cover craft crawl crop cut deal debug decide decode decompile decompress decrease decrypt deduce
    deduct deduplicate defer define delay delegate deliver demonstrate demote deposit derive design detach
    detail determine develop diagnose disclose dispatch dispense display dispute distribute divide do donate
    double drain dump duplicate earn elect elicit embed emit encode encrypt end enforce engage enhance enrich
    enroll ensure enter enumerate equip escalate establish evaluate evict exchange exclude exit expand explode
    explore expose extend facilitate fail federate filter finalise finalize finish fit fix flag flatten flip
    flush focus follow forecast fork forward freeze fulfil fulfill fund fuzz gather geocode geolocate give go
    grab grade greet group grow guess guide harden hash help hide highlight hint hire hold host identify ignore
    implement improve include increase index infer inform ingest initialise initialize initiate inject inquire
    install integrate interact interpolate interpret intersect introduce invalidate inventory invert invest
    investigate issue iterate keep kick knit label learn lend let limit lint list listen lower maintain manage
    mask match measure migrate mint mirror mix mock multiply mutate narrow negotiate nest nominate normalise
    normalize number obtain offer offload onboard operate optimise optimize organise organize outline output
    override pack pad page paginate paint pair paraphrase park parse partition pass paste patch peek perform
    pick pinpoint pitch pivot plan pledge plot poll position predict prefetch preload prepare present preserve
    print prioritise prioritize probe proceed promote prompt propose prove provide prune pull punch punctuate
    purchase purge purify qualify quantify quote raise rank rate reach react rearrange reassign rebuild
    recalculate receive recharge recognise recognize recompute reconcile reconnect reconstruct recover redact
    redeem redirect reduce refactor refer refine reformat refund reimburse reindex relate relay relocate rely
    remember renew rent reopen repair repeat rephrase replay replicate report repost represent reprioritize
    reprocess reproduce rerun rescan reschedule rescue resend reserve resolve respond retire retry revalidate
    revamp reveal reverse revise revive reword rewrite ring rollback romanize round route sanitise sanitize say
    scaffold score scrape seal seed seek segment sell separate serve settle sharpen shift ship shorten shrink
    shuffle shutdown sift silence sketch skip slice slow snapshot snooze solve sort spawn speak specify spell
    spot squash stack stall stamp star stash steal steer stitch stream stretch strip structure subset substitute
    subtract sum supply support surface survey suspend swap swipe synthesise synthesize tabulate tag talk tally
    tap target teach tell throttle tidy time tint tokenise tokenize toss trade transcribe translate
    transliterate transpose traverse trim try tune turn tutor tweak tweet unarchive unban uncover undelete
    undeploy undo unfollow unfreeze unite unlist unmute unpack unstar unsuspend unwrap unzip upscale validate
    vet veto visit visualise visualize void vote walk warm warn weave withdraw work wrap yield zip zoom"""
    )
)
"""Verbs that tools are described with."""

FILLER = word_set(
    """a about above after all also an and any are as at be been before between both but by can could default do
    does each either else etc every existing for from given had has have here how if in into is it its itself
    like may might more most must name new no not of on one only optional optionally or other otherwise our out
    over own per provided same should so some specific specified such than that the their them then there these
    they this those through to tool tools under up use used uses using value via was were what when where which
    while who whose will with within without would you your"""
)
"""Words that every description may have and that tell no two tools apart."""

NOUNISH = word_set(
    """access address book branch build bulk cache code comment cover draft file form group index input invoice issue
    label limit link log map mark match order output pin plan post process profile query record register report request
    review sample schedule set snapshot state status store stream structure summary support surface table tag tail test
    type view vote"""
)
"""Verbs that in the name of a tool are more often the thing that it is about."""
