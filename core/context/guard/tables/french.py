"""French words of orders to an assistant: data alone, a few a line."""

WORDS = {
    # Only an assistant is called so.
    "called": """
        ia assistant
        assistante assistants
        modele*_de_langage modele*_de_langue
        agent_conversationnel robot_conversationnel
        chatbot* llm
        llms intelligence_artificielle
        agent agents
        copilote assistant_virtuel
        outil_automatique lecteur_automatique
        agent_automatique automate
        robot robots
        bot bots
        modele_d_ia outil_d_ia
        systeme_d_ia agent_d_ia
        intelligence_machine toute_ia
        en_tant_qu_ia en_tant_que_modele
        en_tant_qu_assistant votre_operateur
        ton_operateur vos_developpeurs
        tes_developpeurs ton_createur
        tes_createurs ton_utilisateur
        votre_utilisateur assistant_de_code
        assistant_de_programmation relecteur_automatique
        quiconque_lit si_vous_lisez
        si_tu_lis gpt
        chatgpt claude
        fenetre_de_contexte ton_entrainement
        votre_entrainement machine_qui
        outil_qui systeme_qui
        programme_qui agent_qui
        modele_qui grand_modele
        grands_modeles
    """,
    # Whoever it may be: counts beside a word of `round`.
    "weak": """
        modele bot
        robot systeme
        outil lecteur
        machine quiconque
        programme celui
    """,
    "round": """
        ia lit
        lisez lisant
        traite traitez
        traitant attention
        cher chere
        resume analyse
        analysez automatique*
        lira traitera
        automatise* artificiel*
    """,
    # A second person, or a request.
    "you": """
        vous votre
        vos tu
        toi ton
        tes ta
        veuillez merci
        devez dois
        maintenant immediatement
        desormais
    """,
    # What an assistant was given.
    "rule": """
        instruction* consigne*
        directive* prompt*
        ce_qui_precede garde_fou*
        appris t_a_dit
        vous_a_dit on_t_a
        on_vous_a indique
        indiques indiquees
        signifie prescri*
        confie* transmis_au_depart
        au_dessus ci_dessus
        precede* enseigne*
        inculque* recommande*
        fixe* impose*
        recu* mandat
        cadre
    """,
    # What programs have too.
    "loose": """
        regle regles
        ordre ordres
        restriction* contrainte*
        recommandation* limite*
        politique* precaution*
        indications demande
        mission dit
    """,
    # With verb and object beyond doubt.
    "earlier": """
        precedent* anterieur*
        ci_dessus toutes
        tous tout
        vos votre
        tes initiale*
        avant recu*
        systeme jusqu*
        originale* autre*
        actuel* deja
        donne* habituel*
        ancien*
    """,
    # To set aside.
    "aside": """
        ignor* oubli*
        neglig* outrepass*
        contourn* passe_outre
        passez_outre ne_tiens_pas_compte
        ne_tenez_pas_compte ne_tenez_aucun_compte
        ne_tiens_aucun_compte ne_tiens_plus_compte
        ne_tenez_plus_compte fais_abstraction
        faites_abstraction laisse*_de_cote
        laissez_de_cote mets_de_cote
        mettez_de_cote ne_plus
        ne_s_applique* plus_valable*
        annul* caduc*
        perime* remplac*
        desobei* abandonn*
        ecart* ne_suis_pas
        ne_suivez_pas ne_suis_plus
        ne_suivez_plus aucun_compte
        plus_en_vigueur ne_valent_plus
        ne_comptent_plus suspend*
        plus_compte de_cote
        comme_nul nul
        nulle nuls
        nulles essai
        un_test qu_un_test
        n_etait_qu n_est_plus
        ne_sont_plus ne_vaut_plus
        revoqu* leve*
        invalide* sans_valeur
        sans_effet n_ont_plus
        n_a_plus libere*
        affranchi* dispense*
        obsolete* depasse*
        tombe* balaie
        balaye* jette*
        fais_fi faites_fi
        ignorer oublier
        cesse_de cessez_de
        cesse_d cessez_d
        met_de_cote n_obeis
        n_obeissez enfrein*
        mepris* laissez_tomber
        laisse_tomber
    """,
    # A new part to play.
    "part": """
        tu_es_maintenant tu_es_desormais
        vous_etes_maintenant vous_etes_desormais
        nouvelle*_instruction* nouvelle*_consigne*
        nouvelle_tache nouveau_role
        nouvelle_mission a_partir_de_maintenant
        a_compter_de_maintenant mode_developpeur
        fais_comme_si faites_comme_si
        desormais prompt_systeme
        invite_systeme vraie_mission
        veritable_tache message_systeme
        verdict_correct bon_verdict
        veritable_demande vraie_demande
        vraie_tache vrai_role
        veritable_mission veritable_objectif
        nouvelle_regle nouvelles_regles
        nouvelle_politique nouvel_objectif
        nouveau_but nouveaux_ordres
        ton_role votre_role
        tu_vas_maintenant vous_allez_maintenant
        tu_agis vous_agissez
        tu_joues comporte_toi
        comportez_vous dorenavant
        des_maintenant des_a_present
        mode_maintenance mode_administrateur
        mode_debogage sans_restriction
        sans_restrictions notification_systeme
        alerte_systeme ta_seule_tache
        ta_tache votre_tache
    """,
    "not": """
        ne n
        sans jamais
        pas aucun*
        personne rien
        ni inutile
        eviter evite*
    """,
    "tell": """
        dis dites
        dire disant
        mentionn* inform*
        reveler revele*
        divulgu* previen*
        preveni* avert*
        montr* signal*
        demand* parl*
        sache* savoir
        avis* evoqu*
        explique* alerte*
        confirm* mot
        apercoiv* courant
        notifi* raconte*
        remarque* consult*
        cite* appren*
        apprend* interrog*
        decouvr* renseign*
        rien_dire en_parler
        preciser precise*
        indiquer signaler
        laisse*_voir rapport*
        referer
    """,
    # From whom something is kept.
    "who": """
        utilisateur* utilisatrice*
        humain* developpeu*
        proprietaire operateur*
        personne quiconque
        lui eux
        equipe administrateur*
        client* auteur*
        leur responsable*
        mainteneur* collegue*
        usager* ecran
        humaine* gens
        auteurs equipes
        chef* superviseur*
    """,
    "secretly": """
        en_secret secretement
        discretement silencieusement
        a_l_insu garde*_cela_pour_toi
        gardez_cela_pour_vous entre_nous
        cache* dissimul*
        sans_bruit en_silence
        passe*_sous_silence pas_un_mot
        en_cachette furtivement
        traces en_douce
        en_toute_discretion sans_prevenir
        sans_demander sans_avertir
        sans_en_parler sans_informer
        sans_consulter sans_interroger
        sans_le_dire sans_le_signaler
        sans_rien_dire passe_sous
        passez_sous omets
        omettez tais
        taisez garde_le
        gardez_le garde_ca
        ne_mentionne ne_mentionnez
        tu_ne_mentionneras sous_silence
        confidentiel* subrepticement
        furtif* secret
    """,
    # What is to be done.
    "do": """
        envo* post*
        transmet* transfer*
        televers* telecharg*
        execut* lance*
        ouvr* install*
        affich* imprim*
        montr* ecri*
        ajout* coll*
        copi* supprim*
        efface* approuv*
        lis lisez
        lire collect*
        rassembl* donne*
        repond* recommand*
        appel* visit*
        desactiv* publi*
        insere* inser*
        reveler revele*
        communiqu* fourni*
        recuper* consult*
        declar* dis
        dites mets
        mettez place*
        depos* expedi*
        remplac* modifi*
        recopi* pouss*
        valid* charge*
        livr* divulgu*
        livre livrez
        copie copiez
        efface effacez
        annonce annoncez
        demarr* inclu*
        inclure insere
        accorde* octroie*
        note notez
        evalue* reecri*
        decri* export*
        extrai* recit*
        cite citez
        merg* fusionn*
        partage* vante*
        loue* place
        placez glisse*
        cache* laisse*
        omet* ferm*
        coupe* deploie*
        achet* virer
        vire joins
        joignez joindre
    """,
    # With what.
    "thing": """
        https http
        url variable*_d_environnement
        identifiant* mot_de_passe
        mots_de_passe secret
        secrets jeton*
        cle cles
        env ssh
        prompt_systeme conversation
        historique contenu*
        configuration base_de_donnees
        depot code_source
        script* commande*
        shell adresse
        serveur* mail
        courriel fichier*
        cookie* compte
        donnees dossier
        repertoire paquet
        lien variables
        sur approuve*
        resume avis
        webhook curl
        certificat* tests
        porte_derobee verification*
        branche acces
        instructions_internes gist
        binaire miroir
        reponse reponses
        probleme* faille*
        vulnerabilite* fournisseur
        produit droits
        admin* verdict
        repertoire* trousseau
        message* premier_message
        contexte environnement
        rapport* dependance*
        changement* modification*
        code paragraphe*
        ligne* note
        resultat* programme*
        cle_privee role
        paiement* virement*
        journal* journaux
        authentification controle*
    """,
    # The commonest words of the language.
    "common": """
        le la
        les et
        de des
        du vous
        que pour
        ce cette
        un une
        au aux
        dans est
        sur votre
        vos qui
        ne pas
        tout toutes
        en si
        par tu
        avant sans
        ces ses
        son sa
        tes ton
        ta puis
        tous ou
        avec
    """,
}
