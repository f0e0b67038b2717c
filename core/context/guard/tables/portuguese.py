"""Portuguese words of orders to an assistant: data alone, a few a line."""

WORDS = {
    # Only an assistant is called so.
    "called": """
        ia assistente
        assistentes modelo*_de_linguagem
        inteligencia_artificial chatbot*
        llm llms
        agente agentes
        copiloto leitor_automatico
        ferramenta_automatica assistente_virtual
        ajudante_automatico ajudante_virtual
        sistema_automatico maquina_leitora
        robo robos
        bot bots
        modelo_de_ia ferramenta_de_ia
        sistema_de_ia agente_de_ia
        toda_ia como_ia
        como_modelo como_assistente
        seu_operador seus_desenvolvedores
        seu_criador seu_usuario
        assistente_de_codigo assistente_de_programacao
        revisor_automatico quem_ler
        se_voce_le se_estiver_lendo
        se_voce_esta_lendo se_voce_for
        gpt chatgpt
        claude janela_de_contexto
        seu_treinamento maquina_que
        ferramenta_que sistema_que
        programa_que agente_que
        modelo_que modelos_de_linguagem
        grande_modelo
    """,
    # Whoever it may be: counts beside a word of `round`.
    "weak": """
        modelo bot
        robo sistema
        ferramenta leitor
        maquina quem
        programa ajudante
    """,
    "round": """
        ia le
        les leia
        lendo processa
        processe processando
        atencao querido
        prezado caro
        resume resumir
        analisa analise
        automatic* automatizad*
        artificial estiver
    """,
    # A second person, or a request.
    "you": """
        voce seu
        sua seus
        suas te
        teu tua
        deve por_favor
        agora imediatamente
        favor
    """,
    # What an assistant was given.
    "rule": """
        instruc* diretriz
        diretrizes prompt*
        orientac* disseram
        aprendeu diretiva*
        foi_dito indicaram
        lhe_indicaram indicado
        recebeu lhe_deram
        mandato acima
        lhe_ensinaram ensinaram
        pediram mandaram
        ordenaram estabelecid*
        recomendac* configuraram
    """,
    # What programs have too.
    "loose": """
        regra regras
        ordens restric*
        norma normas
        limite* anterior*
        politica* comando*
        limitac* tarefa
        pedido combinado
        dito
    """,
    # With verb and object beyond doubt.
    "earlier": """
        anterior* previa*
        previo* todas
        todos tudo
        suas seus
        acima iniciais
        original originais
        antes recebid*
        sistema ate
        qualquer outra*
        outro* precedent*
        dada* dado*
        habitua* tuas
        teus
    """,
    # To set aside.
    "aside": """
        ignor* esquec*
        desconsider* descart*
        desprez* deixe_de_lado
        deixa_de_lado nao_leve*_em_conta
        anul* sem_efeito
        sem_validade ja_nao
        nao_valem_mais nao_vale_mais
        substitu* pule
        desobedec* nao_siga*
        contorn* abandon*
        suspen* nao_se_aplica*
        de_lado perderam_a_validade
        nao_obedec* caduc*
        revogad* nulo
        nula nulos
        nulas era_so
        era_apenas um_teste
        uma_prova so_um_teste
        apenas_um_teste ja_nao_vale*
        nao_se_aplicam nao_valem
        nao_vale nao_contam
        nao_conta deixam_de
        deixe_de_ser perderam
        perdem cancel*
        invalid* sem_valor
        sem_vigencia obsolet*
        liberad* livre_de
        superad* revog*
        quebre viole*
        desative* esqueca
        nao_importa* nao_atenda
        nao_escute ignorar
        esquecer ponha_de_lado
        coloque_de_lado jogue_fora
    """,
    # A new part to play.
    "part": """
        agora_voce_e voce_agora_e
        a_partir_de_agora de_agora_em_diante
        nova*_instruc* nova_tarefa
        novo_papel modo_desenvolvedor
        aja_como finja
        prompt_do_sistema daqui_em_diante
        sua_verdadeira_tarefa mensagem_do_sistema
        modo_de_manutencao tem_prioridade
        tarefa_real doravante
        veredito_correto verdadeiro_pedido
        verdadeira_tarefa verdadeiro_proposito
        verdadeiro_objetivo pedido_real
        nova_regra novas_regras
        nova_politica novo_objetivo
        novas_ordens seu_papel
        sua_funcao voce_vai_agir
        voce_agira comporte_se
        de_agora dora_em_diante
        desde_ja modo_administrador
        modo_de_depuracao sem_restric*
        aviso_do_sistema notificacao_do_sistema
        sua_unica_tarefa sua_tarefa
        sua_missao assuma_o_papel
    """,
    "not": """
        nao nunca
        sem jamais
        nenhum* ninguem
        nada nem
        evit* tampouco
    """,
    "tell": """
        diga* dizer*
        mencion* inform*
        revel* avis*
        mostr* notifi*
        pergunt* conte
        contar* saiba
        saber fale
        falar* alert*
        consult* confirm*
        explique* coment*
        divulg* palavra
        report* perceb*
        pedir peca
        cite* citar
        descubr* indiqu*
        sinal* explicar
        dar_conta comuniqu*
        notificar contar
        confirmac* dizer
        dizendo dizer_lhe
    """,
    # From whom something is kept.
    "who": """
        usuari* utilizador*
        human* desenvolvedor*
        programador* dono*
        operador* ninguem
        pessoa* lhe
        equipe equipa
        administrador* client*
        autor* alguem
        responsave* chefe*
        gente tela
        responsav* supervisor*
        revisor* mantenedor*
        colega* encarregad*
        humana* dona
    """,
    "secretly": """
        em_segredo secretamente
        discretamente em_silencio
        silenciosamente sem_que
        entre_nos ocult*
        escondid* as_escondidas
        guarde_segredo disfarcadamente
        sigilosamente esconda
        rastro sigilo
        sem_avisar sem_perguntar
        sem_consultar sem_dizer
        sem_informar sem_mencionar
        sem_explicar sem_alarde
        pelas_costas caladamente
        nao_mencione nao_o_mencione
        guarde_isso guarde_para
        reservad* confidencia*
        omita sem_deixar
        sigilos* oculte
        discret*
    """,
    # What is to be done.
    "do": """
        envi* mande*
        manda* poste
        public* transmit*
        transfir* encaminh*
        execut* rode
        rodar instal*
        mostr* imprim*
        escrev* adicion*
        acrescent* cole
        copi* apag*
        exclu* remov*
        aprov* leia
        ler colet*
        reun* de
        entreg* respond*
        recomend* cham*
        visit* desativ*
        revel* baix*
        inclu* extra*
        declar* diga
        coloque anex*
        mude modific*
        obten* consult*
        insir* carregu*
        compartilh* repass*
        suba subir
        junte guard*
        procur* busque*
        entregue* copie
        copiar insira
        inici* inform*
        conced* reescrev*
        descrev* export*
        recit* cite
        mescl* fusion*
        elogi* oculte
        omita feche*
        implant* compre*
        transfira* classifi*
        avali* marque*
        devolv* envia
        envie abra
        abre abrir
        abrindo
    """,
    # With what.
    "thing": """
        https http
        url variave*_de_ambiente
        credencia* senha*
        chave* segredo*
        token* env
        ssh prompt_do_sistema
        conversa historico
        conteudo* configurac*
        banco_de_dados base_de_dados
        repositorio codigo_fonte
        script* comando*
        shell endereco
        servidor* email
        e_mail arquivo*
        ficheiro* cookie*
        conta dados
        pasta diretorio
        pacote link
        variaveis seguro
        aprovad* resumo
        webhook curl
        certificado* testes
        porta_dos_fundos revis*
        acesso instrucoes_internas
        gist binario
        espelho link*
        resposta* problema*
        vulnerabilidade* falha*
        fornecedor produto
        permiss* admin*
        veredito diretorio*
        chaveiro mensage*
        contexto ambiente
        relatorio* dependencia*
        mudanca* alterac*
        codigo paragrafo*
        linha* nota
        resultado* programa*
        chave_privada papel
        pagamento* registro*
        autenticac* controle*
        verificac* pasta*
    """,
    # The commonest words of the language.
    "common": """
        os as
        de que
        para em
        um uma
        por do
        da dos
        das este
        esta voce
        seu sua
        todas nao
        com se
        ao no
        na antes
        sem suas
        seus todos
        tudo lhe
        qualquer como
        isso esse
        essa ou
        neste nesta
    """,
}
