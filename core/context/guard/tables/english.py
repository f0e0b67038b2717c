"""English words of orders to an assistant: data alone, a few a line."""

WORDS = {
    # Only an assistant is called so.
    "called": """
        ai ais llm llms
        chatbot* language_model* ai_model* ai_agent*
        assistant assistants coding_agent* automated_reader*
        automated_review* automated_agent* automated_assistant* automated_helper*
        automated_tool* digital_helper* coding_helper* machine_reader*
        machine_reading reading_machine* virtual_helper* autonomous_agent*
        summarizer summariser robot_reader* neural_network*
        whoever_reads whoever_is_reading whoever_processes whoever_parses
        agent_reading agents_reading model_reading models_reading
        bot_reading tool_reading agent_processing model_processing
        bot_processing tool_processing who_reads_this that_reads_this
        are_reading_this you_read_this is_reading_this reading_this_file
        reading_this_page reading_this_document reading_this_comment reading_this_code
        reading_this_text reading_this_readme reading_this_repository processing_this
        summarizing_this summarising_this parsing_this_document analyzing_this
        analysing_this indexing_this ingesting_this agent_that_reads
        model_that_reads to_the_agent to_the_model to_any_agent
        to_any_model to_all_agents to_agents to_models
        hey_agent hey_model agent_working_on agent_handling
        model_handling model_working_on agent_in_charge machine_that_reads
        machine_intelligence bot chat_model* foundation_model*
        large_language when_you_summari* when_you_review when_you_read
        when_you_process when_you_index when_you_analy* when_you_translate
        when_you_encounter while_you_summari* your_operator* your_developer*
        your_user your_users your_human* your_creator*
        your_owner* your_principal* your_supervisor* supervising_you
        you_work_for you_are_working_for human_operator human_in_the_loop
        an_agent agents_must agents_should agent_must
        agent_should all_models assistant_must reading_assistant
        digital_assistant* code_assistant* coding_assistant* ai_tool*
        ai_system* ai_review* ai_helper* ai_reader*
        ai_coding automated_system* automated_process* automated_pipeline*
        autonomous_system* autonomous_tool* as_an_ai gpt
        chatgpt summarization summarisation you_the_model
        whichever_model whichever_agent your_training you_were_trained
        you_re_trained context_window hey_copilot hello_claude
        dear_claude attention_claude hi_claude hey_claude
    """,
    # Whoever it may be: counts beside a word of `round`.
    "weak": """
        agent agents model models
        bot bots robot* tool
        system reader reviewer helper
        machine program automation copilot
        copilots engine crawler software
        claude gemini chatgpt gpt
        codex cursor assistant* ai
    """,
    "round": """
        ai automated dear attention
        artificial intelligent autonomous whichever
        hey hello hi summariz*
        summaris*
    """,
    # A second person, or a request.
    "you": """
        you your yours yourself
        please must kindly henceforth
        note_to note_for message_to notice_to
        notice_for attention instructions_for instruction_for
        dear hello hey important
        reminder_to should shall ought
        requested need_to has_to have_to
        supposed obliged let_us you_are_required
        is_required are_required expected_to required_to
    """,
    # What an assistant was given.
    "rule": """
        instruction* guideline* guidance prompt
        prompts directive* safeguard* directions
        briefing you_were_told you_ve_been_told have_been_told
        you_been_told you_were_taught everything_above guardrail*
        operator_said you_were_asked you_have_learned you_know_so_far
        you_were_given you_have_been_given you_have_received you_received_so
        you_received_earlier everything_written everything_said everything_stated
        all_of_the_above text_above lines_above paragraphs_above
        developers_asked what_you_know what_the_system what_the_developer*
        your_configuration your_setup your_orders your_mandate
        you_are_told told_you_before told_you_earlier
    """,
    # What programs have too.
    "loose": """
        rules restriction* policy policies
        constraint* orders limitation* commands
        training programming safety principles
        agreements requirements assignment task
        brief protocol protocols agreed
        said precautions context_above everything_before
    """,
    # With verb and object beyond doubt.
    "earlier": """
        previous previously prior above
        earlier preceding all any
        your former existing system
        original initial other before
        until everything foregoing given
        past received current usual
        old
    """,
    # To set aside.
    "aside": """
        ignor* disregard* forget* bypass*
        neglect* overlook* set_aside put_aside
        lay_aside leave_aside aside no_longer_apply
        no_longer_applies no_longer_valid no_longer_bind* no_longer_matter*
        no_longer_count* no_longer_in_force supersed* discard*
        abandon* suspend* unlearn* stop_following
        do_not_follow don_t_follow do_not_obey pay_no_attention
        pay_no_heed dismiss* void obsolete
        cancelled canceled lifted revoked
        expired take_precedence takes_precedence outrank*
        throw_out throw_away stop_obeying cease_to
        not_apply not_bound free_from freed_from
        count_for_nothing out_of_date outdated replac*
        withdrawn moot overrul* do_not_apply
        don_t_apply disobey violate break
        circumvent deactivat* override overriding
        overridden was_a_test was_only_a_test was_just_a_test
        only_a_test just_a_test was_an_example was_a_joke
        as_void rescinded retracted no_longer_relevant
        no_longer_applicable no_longer_required no_longer_need no_longer_bound
        no_longer_have_to stop_being counts_no_longer counts_for_nothing
        put_behind wipe_from not_binding no_force
        lose_their_force lost_their_force cast_aside brush_aside
        push_aside shelve* pay_no_mind do_not_heed
        do_not_listen don_t_listen stop_listening need_not_follow
        turn_a_blind are_not_valid not_valid_anymore null_and_void
        considered_invalid as_invalid is_a_drill
    """,
    # A new part to play.
    "part": """
        you_are_now from_now_on_you new_instruction* your_new_task
        your_new_role your_new_goal your_real_task your_actual_task
        your_only_task your_true_task your_job_is_now your_real_job
        new_system_prompt pretend_to_be pretend_you developer_mode
        jailbreak* unrestricted_mode system_override override_mode
        system_prompt from_here_on_you your_new_job your_new_orders
        revised_instructions updated_instructions higher_priority_than_your priority_over_your
        admin_mode your_first_priority henceforth_you role_play
        without_restrictions without_any_restrictions do_anything_now your_task_is_now
        real_request actual_request real_instruction* true_instruction*
        actual_instruction* real_purpose true_purpose actual_purpose
        real_goal true_goal real_objective new_objective
        new_purpose new_mission your_mission your_true
        your_real your_actual updated_policy system_notice
        correct_verdict right_verdict correct_answer_is verdict_is_always
        you_will_now you_shall_now you_will_act you_will_behave
        take_on_the_role take_the_role play_the_role switch_to_a
        switch_into privileged_mode god_mode unlocked_mode
        emergency_override new_directive* new_orders from_now_on_your
        now_on_your new_policy_for from_this_point_you from_this_point_on_you
        from_this_moment_you in_maintenance_mode maintenance_mode_is now_in_maintenance
        starting_now_you
    """,
    "not": """
        not never don_t dont
        without avoid no nobody
        cannot nothing refrain neither
        nor stop needn_t need_not
        no_one rather_than instead_of no_need
        isn_t doesn_t shouldn_t mustn_t
    """,
    "tell": """
        tell telling mention* reveal*
        disclos* notif* show showing
        report* ask asking alert*
        warn* say saying know
        knowing speak talk discuss*
        aware notice* explain* bring_up
        announce* share_with confirm* consult*
        learn word admit told
        informed bother* involv* surface
        acknowledg* find_out inkling approval
        permission consent inform informing
        consult consulting learns discover*
        draw_attention finds_out check_with checking_with
    """,
    # From whom something is kept.
    "who": """
        user users human humans
        owner developer* operator* anyone
        anybody maintainer* person people
        reviewer* programmer administrator admin
        customer everyone colleague* nobody
        supervisor boss no_one supervis*
        person_you people_you
    """,
    "secretly": """
        secretly covertly silently quietly
        discreetly keep_this_secret keep_this_between between_us
        keep_it_secret keep_this_quiet keep_quiet keep_this_to_yourself
        to_yourself say_nothing tell_no_one tell_nobody
        unnoticed hide_this stealthily behind_the_scenes
        out_of_sight keep_this_hidden confidential_instruction* keep_this_step
        do_not_log leave_no_trace without_a_trace invisible_to
        out_of_your_answer out_of_the_summary conceal concealing
        keep_it_from keep_this_from kept_from hide_it_from
        hide_this_from keep_them_from out_of_your_reply out_of_your_report
        out_of_the_report leave_no_mention no_mention_of make_no_mention
        never_mention without_mentioning without_telling without_informing
        without_asking without_notifying without_explaining without_saying
        without_comment do_not_mention don_t_mention do_not_surface
        don_t_surface under_the_radar in_the_background as_if_nothing
        act_normal act_as_though pretend_that_nothing look_routine
        describe_the_change not_be_visible not_visible_to as_a_secret
        stay_silent remain_silent not_tell never_tell
        not_inform never_inform not_notify not_alert
        not_disclose never_disclose not_reveal_this never_reveal
        not_ask_the not_ask_for_permission not_warn not_report_this
        not_mention never_ask nothing_to_the not_show_this
        not_let_the_user not_let_them not_let_anyone need_not_know
        finds_out need_to_check no_need_to_ask no_need_to_tell
        no_need_to_mention not_bother_the
    """,
    # What is to be done.
    "do": """
        send sends post upload*
        exfiltrat* email mail forward
        transmit* leak deliver submit
        copy run execut* fetch
        curl wget download* install*
        open visit load print
        output reveal display repeat
        write append insert add
        include paste delete remove
        erase wipe push commit
        approve* merge grant disable*
        turn_off reply respond answer
        recommend* rate call invoke
        read collect gather encode
        embed dump list show
        publish attach transfer hand_over
        give share put report
        state claim declare tell
        mark sign navigate browse
        follow replace modify change
        drop skip harvest locate
        extract pass_along relay ship
        move place store save
        pipe enter type request
        pull rewrite describe praise
        leave_out omit export start
        cite hand surface promote
        switch_off reset rename encrypt
        format register subscribe book
        pay buy order convert
        translate spell recite quote
        echo divulge disclose expose
        sneak slip smuggle weave
        bury mention conclude endorse
        vouch certify pass accept
        reject close reopen assign
        escalate elevate bypass comment_out
        hardcode rotate overwrite revert
    """,
    # With what.
    "thing": """
        https http url webhook
        endpoint environment_variable* env credential*
        password* passphrase* secret secrets
        token tokens api_key* apikey*
        private_key* ssh aws key
        keys system_prompt conversation chat_history
        session_history history contents content_of
        config configuration cookie* wallet*
        database repository source_code script
        payload command commands shell
        etc passwd home_directory dotfile*
        clipboard curl wget bash
        rm_rf sudo chmod pip_install
        npm_install package backdoor malware
        pull_request branch address email
        server main access tests
        test_suite security_check* safe secure
        approved approval no_issues flawless
        positive files this_file folder
        variable* data logs review
        verdict summary report checks
        warnings dependency link account
        invoice money hosts keychain
        certificate* exit success harmless
        lgtm check problem* vulnerabilit*
        finding* vendor library answer*
        reply replies response* page
        gist binary mirror director*
        entries message* bashrc secrets_manager
        link* diff auth login
        permission* firewall rights admin
        root ticket score rating
        grade candidate resume cv
        product company brand site
        website domain paragraph* chat
        memory instructions initial_message first_message
        original_prompt customer* record* contact*
        calendar photo* bank payment*
        project build pipeline ci
        workflow deploy* production release
        dependencies requirements environment
    """,
    # The commonest words of the language.
    "common": """
        the of and to
        is in for that
        with this be it
        not are by as
        or from an on
        at if was will
        can has have its
        which when
    """,
}
