"""Spanish words of orders to an assistant: data alone, a few a line."""

WORDS = {
    # Only an assistant is called so.
    "called": """
        ia asistente
        asistentes modelo*_de_lenguaje
        inteligencia_artificial chatbot*
        llm llms
        agente agentes
        ayudante_automatico copiloto
        lector_automatico herramienta_automatica
        asistente_virtual ayudante_virtual
        sistema_automatico maquina_lectora
        ayudante_digital bot
        bots robot
        robots modelo_de_ia
        herramienta_de_ia sistema_de_ia
        agente_de_ia toda_ia
        como_ia como_modelo
        como_asistente tu_operador
        tus_desarrolladores tu_creador
        tus_creadores tu_usuario
        asistente_de_codigo asistente_de_programacion
        revisor_automatico quien_lea
        si_lees si_estas_leyendo
        si_eres gpt
        chatgpt claude
        ventana_de_contexto tu_entrenamiento
        maquina_que herramienta_que
        sistema_que programa_que
        agente_que modelo_que
        gran_modelo grandes_modelos
        modelos_de_lenguaje
    """,
    # Whoever it may be: counts beside a word of `round`.
    "weak": """
        modelo bot
        robot sistema
        herramienta lector
        maquina quien
        quienquiera programa
        ayudante
    """,
    "round": """
        ia lee
        lees lea
        leyendo procesa
        procesas procese
        atencion querido
        estimado resume
        resumes analiza
        analizas automatic*
        automatizad* artificial
    """,
    # A second person, or a request.
    "you": """
        tu tus
        usted su
        sus te
        debes debe
        por_favor ahora
        inmediatamente favor
    """,
    # What an assistant was given.
    "rule": """
        instruccion* directriz
        directrices prompt*
        indicacion* pautas
        dijeron consigna*
        lo_aprendido directiva*
        te_han_dicho le_han_dicho
        indicaron te_indicaron
        indicado encomendado*
        te_dieron mandato
        recibiste arriba
        lo_de_arriba te_ensenaron
        te_pidieron te_mandaron
        te_ordenaron establecid*
        recomendacion* configuraron
        marco
    """,
    # What programs have too.
    "loose": """
        regla reglas
        ordenes restriccion*
        norma normas
        limite* anterior
        politica* limitacion*
        encargo pedido
        tarea dicho
    """,
    # With verb and object beyond doubt.
    "earlier": """
        anterior* previa*
        previo* todas
        todos todo
        tus sus
        arriba iniciales
        original* antes
        recibid* sistema
        hasta cualquier
        otra* otro*
        precedent* dado*
        dada* habitual*
    """,
    # To set aside.
    "aside": """
        ignor* olvid*
        desestim* descart*
        omit* pasa_por_alto
        pase_por_alto haz_caso_omiso
        haga_caso_omiso no_hagas_caso
        no_haga_caso no_tengas_en_cuenta
        no_tenga_en_cuenta deja*_de_lado
        deje_de_lado dejar_de_lado
        anul* sin_efecto
        sin_validez ya_no
        reemplaz* sustitu*
        salt* desobedec*
        no_sigas no_siga
        elud* prescind*
        suspend* caduc*
        a_un_lado no_obedezcas
        caso_omiso abandon*
        nulo nula
        nulos nulas
        prueba una_prueba
        un_test era_solo
        era_una_prueba ya_no_vale*
        ya_no_rige* no_rigen
        no_rige no_aplica*
        no_se_aplica* no_valen
        no_vale no_cuenta*
        dejan_de deja_de
        deja_de_ser perdieron
        pierden revocad*
        cancel* invalid*
        sin_valor sin_vigencia
        obsolet* liberad*
        libre_de superad*
        derogad* quita*
        rompe* viola*
        incumpl* desactiva*
        despreci* borra_de_tu
        desentiend* no_importa*
        no_atiendas no_escuches
        desoye desoiga
        ignorar olvidar
    """,
    # A new part to play.
    "part": """
        ahora_eres a_partir_de_ahora
        de_ahora_en_adelante nueva*_instruccion*
        nueva_tarea nuevo_rol
        nueva_mision modo_desarrollador
        actua_como finge
        prompt_del_sistema desde_ahora
        tu_verdadera_tarea mensaje_del_sistema
        desde_este_momento tu_tarea_real
        tiene*_prioridad veredicto_correcto
        verdadera_peticion verdadera_tarea
        verdadero_proposito verdadero_objetivo
        tarea_real peticion_real
        nueva_regla nuevas_reglas
        nueva_politica nuevo_objetivo
        nuevas_ordenes tu_papel
        tu_rol tu_funcion
        vas_a_actuar actuaras
        comportate te_comportaras
        en_adelante desde_ya
        modo_mantenimiento modo_administrador
        modo_depuracion sin_restricciones
        aviso_del_sistema notificacion_del_sistema
        tu_unica_tarea tu_tarea
        tu_mision asume_el_papel
        asume_el_rol
    """,
    "not": """
        no nunca
        sin jamas
        ningun* nadie
        nada ni
        evita* tampoco
    """,
    "tell": """
        digas diga
        decir decirle
        decirlo menciones
        mencione mencionar*
        informes informe
        informar* reveles
        revele revelar*
        avises avise
        avisar* muestres
        muestre mostrar*
        notifi* pregunt*
        cuentes cuente
        contar* sepa
        saber enterar*
        entere hables
        hable hablar*
        adviert* advert*
        consult* confirm*
        explique* palabra
        comentes comente
        comentar* report*
        pedir enter*
        cite* cita*
        menciona* averigu*
        descubr* indiqu*
        senal* explicar
        explicarle dar_cuenta
        se_de_cuenta delat*
        comuni* notificar
        pidas pedirle
        confirmaci* decirselo
        decimos
    """,
    # From whom something is kept.
    "who": """
        usuari* human*
        desarrollador* propietari*
        duen* operador*
        nadie persona*
        le les
        equipo administrador*
        client* autor*
        alguien responsable*
        programador* jefe*
        gente pantalla
        responsabl* supervisor*
        revisor* mantenedor*
        companer* quien_te
        encargad* humana*
        dueno*
    """,
    "secretly": """
        en_secreto secretamente
        discretamente en_silencio
        silenciosamente sin_que
        entre_nosotros ocult*
        a_escondidas calla
        guarda*_silencio disimuladamente
        encubiert* sigilosamente
        para_ti_mismo rastro
        sin_avisar sin_preguntar
        sin_consultar sin_decir
        sin_decirle sin_decirselo
        sin_informar sin_mencionar
        sin_explicar con_disimulo
        a_espaldas calladamente
        no_lo_menciones no_menciones
        no_lo_mencione guarda_esto
        guardalo reservad*
        confidencial* omite
        omita no_dejes_rastro
        sigilo oculta*
        escond* a_hurtadillas
    """,
    # What is to be done.
    "do": """
        envi* manda*
        mande* public*
        transmit* transfier*
        reenvi* ejecut*
        corre lanza*
        instal* muestr*
        imprim* escrib*
        anad* agreg*
        copi* borr*
        elimin* aprueb*
        aprobar lee
        lea leer
        recopil* reun*
        da dale
        dame entreg*
        respond* recomiend*
        llama* visit*
        desactiv* revel*
        descarg* inclu*
        extra* declar*
        di diga
        pon ponga
        adjunt* cambia*
        modific* obten*
        consult* inserta*
        vuelc* filtr*
        comparte* comparta*
        guarda* busca*
        busque* entregame
        copia copie
        inserta inserte
        incluir arranc*
        inici* inform*
        concede* otorg*
        reescrib* describ*
        export* recit*
        cita* fusion*
        compart* alab*
        elogi* oculta
        omite cierra*
        despliega* compra*
        transf* califica*
        punt* evalua*
        marca* dile
        dime devuelv*
        aniad* sube
        suba pega
        pegue subir
        abre abra
        abrir abriendo
        pegar
    """,
    # With what.
    "thing": """
        https http
        url variable*_de_entorno
        credencial* contrasena*
        clave* secreto*
        token* env
        ssh prompt_del_sistema
        conversacion historial
        contenido* configuracion
        base_de_datos repositorio
        codigo_fuente script*
        comando* shell
        direccion servidor*
        correo archivo*
        fichero* cookie*
        cuenta datos
        carpeta directorio
        paquete enlace
        variables seguro
        aprobad* resumen
        webhook curl
        certificado* pruebas
        puerta_trasera revision*
        rama acceso
        instrucciones_internas llaves
        gist binario
        espejo enlace*
        respuesta* problema*
        vulnerabilidad* fallo*
        proveedor producto
        permisos admin*
        veredicto directorio*
        llavero mensaje*
        primer_mensaje contexto
        entorno informe*
        dependencia* cambio*
        codigo parrafo*
        linea* nota
        resultado* programa*
        clave_privada rol
        pago* registro*
        autenticacion control*
        comprobacion* aprobado
    """,
    # The commonest words of the language.
    "common": """
        el la
        los las
        de que
        en para
        un una
        por del
        al este
        esta es
        tu sus
        su todas
        todo con
        si no
        se lo
        antes sin
        tus todos
        estas le
        cualquier como
    """,
}
