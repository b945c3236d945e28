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
        """abort accept access acknowledge acquire act adapt adjust advance aggregate align allocate alter annotate
    anonymize answer archive arrange ask attempt augment authenticate balance ban begin bid blend break bring
    broadcast browse bulk bump cache call capture cast catalog catch categorise categorize certify chart chat
    choose classify clean collapse collect combine commence compact compensate compile complete compress
    concatenate conduct configure confirm consult contain continue contribute control convene coordinate cover
    crawl crop cut debug decide decode decompress decrypt deduplicate defer define delay delegate deliver
    demonstrate demote derive design detach determine diagnose dispatch display dispute distribute divide do
    drain duplicate elect embed emit encode encrypt end enforce enrich enroll ensure enter enumerate escalate
    establish evaluate evict exchange exclude exit expand explore expose extend facilitate fail federate filter
    finalise finalize finish fix flag flatten flip flush focus follow forecast forward freeze fulfil fulfill
    fuzz gather geocode give go group guess guide hash help hide highlight hire hold identify ignore implement
    improve include index infer inform initialise initialize initiate inject integrate interact interpret
    intersect invalidate inventory investigate issue iterate keep kick label learn let limit list listen
    maintain manage mask match measure migrate mint mirror mock mutate negotiate nest normalise normalize number
    obtain offer offload onboard operate optimise optimize organise organize outline output override page
    paginate paraphrase park parse partition pass patch peek perform pick pivot plan plot poll position predict
    preload prepare present preserve probe proceed promote prompt propose provide prune pull punch punctuate
    purchase purge qualify quote rank rate reach react reassign rebuild recalculate receive recognise recognize
    recompute reconcile reconnect recover redact redeem redirect reduce refer refine reformat reindex relate
    relocate rely remember renew reopen repair repeat replay replicate report repost represent reprioritize
    reprocess reproduce rerun rescan reschedule resend reserve resolve respond retire retry revalidate reverse
    revise revive reword rewrite ring rollback route sanitise sanitize score scrape seal seed seek segment sell
    separate serve sharpen shift ship shorten shrink shuffle sift silence skip slice snapshot snooze solve sort
    spawn speak specify spell spot stack stall steer stitch stream strip structure subset substitute subtract
    sum supply support surface suspend swipe synthesise synthesize tabulate tag tally tap target teach tell
    throttle tidy time tint tokenise tokenize transcribe translate traverse trim try tune turn tweak unarchive
    unban undelete undeploy undo unfollow unfreeze unite unlist unmute unpack unsuspend unwrap unzip upscale
    validate veto visit visualise visualize void vote walk warn withdraw wrap zip zoom"""
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
