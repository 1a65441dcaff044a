--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: bans; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.bans (
    owner text NOT NULL,
    started_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    streak integer NOT NULL
);


--
-- Name: idempotency; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency (
    owner text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    pet_id bigint NOT NULL,
    created_at bigint NOT NULL
);


--
-- Name: keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.keys (
    id text NOT NULL,
    hash bytea NOT NULL,
    name text NOT NULL,
    owner text NOT NULL,
    plan text NOT NULL,
    per_minute bigint NOT NULL,
    per_day bigint NOT NULL,
    created_at bigint NOT NULL,
    lifetime bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    CONSTRAINT keys_hash_check CHECK ((length(hash) = 32))
);


--
-- Name: pets; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.pets (
    id bigint NOT NULL,
    name text NOT NULL,
    category_id bigint NOT NULL,
    status smallint NOT NULL,
    CONSTRAINT pets_status_check CHECK (((status >= 1) AND (status <= 3)))
);


--
-- Name: pets_id; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.pets ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.pets_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    MAXVALUE 9007199254740991
    CACHE 1
);


--
-- Name: settings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.settings (
    name text NOT NULL,
    value text NOT NULL
);


--
-- Data for Name: bans; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.bans VALUES ('key_017dGjA13', 1794772553033, 1794772613033, 1);


--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency VALUES ('key_0HNRGJkLf', 'first-1', '\xa87633bbdc7f709f7fbad677a862bb385f5288d282fa4dba6f9ba438edc38b20', 1, 1794772552143);
INSERT INTO public.idempotency VALUES ('key_0HNRGJkLf', 'first-2', '\x0713c80445f3944789b1f105b32541d5c07dc5c8dcdab0c1f817136b7954f99a', 2, 1794772552154);
INSERT INTO public.idempotency VALUES ('key_0HNRGJkLf', 'first-3', '\x5e7be64179d9753e1c337f95d3d0b84462ae25ff061c7bacf1e79009c4ddf0ed', 3, 1794772552162);
INSERT INTO public.idempotency VALUES ('key_0HNRGJkLf', 'first-4', '\xf4a4a7d94707d9758fd7267a4bfc9b773c298b8b0a8d2e1e4885a0f675897c2f', 4, 1794772552169);
INSERT INTO public.idempotency VALUES ('key_0HNRGJkLf', 'first-5', '\xb0e79fd2bcc763e561e2e0e5875a863c3bc0aeb35081d8fbac7807516d715930', 5, 1794772552175);


--
-- Data for Name: keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.keys VALUES ('key_0HNRGJkLf', '\x26a22c01bd11c0cd6f143fe2d3fd05059531f61b72753e39d9ab28a22c4be38f', 'named by the operator', 'key_0HNRGJkLf', 'enterprise', 100000000, 1000000000000, 1794772550722, 0, NULL, NULL);
INSERT INTO public.keys VALUES ('key_017dGjA13', '\x317b713af1082d968d7c22e94f6c4d3f06041fac280abe418c069f3e51ae0d7b', 'free', 'key_017dGjA13', 'free', 60, 1000, 1794772552194, 0, NULL, NULL);
INSERT INTO public.keys VALUES ('key_05UrB9Bst', '\x41fbaf9600fa6dab022f231b17c589ab981ad2cc718ac845dbac1ae932d7d05b', 'revoked', 'key_05UrB9Bst', 'free', 60, 1000, 1794772553079, 0, NULL, 1794772553189);
INSERT INTO public.keys VALUES ('key_0PUWRN54K', '\xa5aeb00430d12cd1926794fc7d586256db45ae26980faf11b1db5d1216ec748e', 'rotated', 'key_0OHKOMTzr', 'pro', 300, 10000, 1794772553365, 315360000000, 2110132553365, NULL);
INSERT INTO public.keys VALUES ('key_0OHKOMTzr', '\x5b10563117f2bb66aad71f807b40d143456d1bc5bb252b18db9d0c39d1872d18', 'rotated', 'key_0OHKOMTzr', 'pro', 300, 10000, 1794772553211, 315360000000, 1794858953365, NULL);


--
-- Data for Name: pets; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.pets OVERRIDING SYSTEM VALUE VALUES (1, 'Biscuit, beagle mix', 1, 1);
INSERT INTO public.pets OVERRIDING SYSTEM VALUE VALUES (2, 'Olive, tabby', 2, 2);
INSERT INTO public.pets OVERRIDING SYSTEM VALUE VALUES (3, 'Zoë 🐕', -7, 3);
INSERT INTO public.pets OVERRIDING SYSTEM VALUE VALUES (4, 'Rex', 9007199254740993, 1);
INSERT INTO public.pets OVERRIDING SYSTEM VALUE VALUES (5, 'Moss', 12, 1);


--
-- Data for Name: settings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.settings VALUES ('environment', 'production');
INSERT INTO public.settings VALUES ('schema', '1');


--
-- Name: pets_id; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.pets_id', 5, true);


--
-- Name: bans bans_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bans
    ADD CONSTRAINT bans_pkey PRIMARY KEY (owner);


--
-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (owner, key);


--
-- Name: keys keys_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_hash_key UNIQUE (hash);


--
-- Name: keys keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);


--
-- Name: pets pets_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pets
    ADD CONSTRAINT pets_pkey PRIMARY KEY (id);


--
-- Name: settings settings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (name);


--
-- Name: idempotency_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_by_age ON public.idempotency USING btree (created_at);


--
-- Name: keys_by_owner; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX keys_by_owner ON public.keys USING btree (owner);


--
-- Name: pets_by_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX pets_by_status ON public.pets USING btree (status, id);


--
-- PostgreSQL database dump complete
--


