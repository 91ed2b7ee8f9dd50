/** Owns how columns are called: each field of a passenger in the five languages that passengers are written in, and who writes them how. */
import type { Language } from "../../schemas/vocabulary.ts";

export const fields = [
  "pnr",
  "lastName",
  "firstName",
  "fullName",
  "cabinClass",
  "loyaltyTier",
  "passengerType",
  "birthDate",
  "specialRequirements",
  "wheelchair",
  "reducedMobility",
  "visual",
  "hearing",
  "serviceAnimal",
  "infantCot",
  "email",
  "phone",
  "language",
] as const;
export type Field = (typeof fields)[number];

interface TemplateColumn extends Readonly<Record<Language, string>> {
  field: Field;
}

/** The columns of the template in their order, as each language calls them. */
export const templateColumns = [
  {
    field: "pnr",
    en: "Booking reference",
    es: "Localizador",
    pt: "Localizador",
    fr: "Référence de réservation",
    de: "Buchungsnummer",
  },
  {
    field: "lastName",
    en: "Last name",
    es: "Apellidos",
    pt: "Sobrenome",
    fr: "Nom de famille",
    de: "Nachname",
  },
  {
    field: "firstName",
    en: "First name",
    es: "Nombre de pila",
    pt: "Primeiro nome",
    fr: "Prénom",
    de: "Vorname",
  },
  {
    field: "cabinClass",
    en: "Cabin",
    es: "Cabina",
    pt: "Cabine",
    fr: "Cabine",
    de: "Kabine",
  },
  {
    field: "loyaltyTier",
    en: "Loyalty tier",
    es: "Nivel de fidelidad",
    pt: "Nível de fidelidade",
    fr: "Statut de fidélité",
    de: "Vielfliegerstatus",
  },
  {
    field: "passengerType",
    en: "Passenger type",
    es: "Tipo de pasajero",
    pt: "Tipo de passageiro",
    fr: "Type de passager",
    de: "Passagiertyp",
  },
  {
    field: "specialRequirements",
    en: "Special requirements",
    es: "Necesidades especiales",
    pt: "Necessidades especiais",
    fr: "Besoins particuliers",
    de: "Besondere Bedürfnisse",
  },
  {
    field: "email",
    en: "E-mail",
    es: "Correo electrónico",
    pt: "E-mail",
    fr: "Courriel",
    de: "E-Mail-Adresse",
  },
  {
    field: "phone",
    en: "Phone",
    es: "Teléfono",
    pt: "Telefone",
    fr: "Téléphone",
    de: "Telefon",
  },
  { field: "language", en: "Language", es: "Idioma", pt: "Idioma", fr: "Langue", de: "Sprache" },
] as const satisfies readonly TemplateColumn[];

/** Beside what the template calls them. Written without accents, blanks and capitals they are still the same. */
const synonyms: Readonly<Record<Field, string>> = {
  pnr: `pnr, pnr code, pnr number, booking ref, booking code, booking number, booking, record locator, locator, rloc, reservation code,
    reservation number, reservation reference, reservation, confirmation number, confirmation code, airline reference,
    código de reserva, código reserva, referencia de reserva, número de reserva, reserva, localizador de reserva,
    código da reserva, referência da reserva, referência de reserva, número da reserva, código localizador,
    numéro de réservation, code de réservation, numéro de dossier, dossier, dossier de réservation, référence dossier, code dossier,
    buchungscode, buchungsreferenz, buchung, reservierungsnummer, reservierungscode, reservierung, vorgangsnummer, filekey`,
  lastName: `surname, family name, last, lname, passenger last name, passenger surname, apellido, apellido 1, primer apellido,
    apelido, apelidos, último nome, sobrenomes, nom du passager de famille, familienname, zuname`,
  firstName: `given name, given names, first names, forename, forenames, first, fname, passenger first name, nombres,
    nome próprio, nomes próprios, prenome, prénoms, vornamen, rufname`,
  fullName: `full name, passenger name, passenger, passenger full name, name of passenger, pax name, pax, guest, guest name,
    nombre completo, nombre del pasajero, pasajero, nombre y apellidos, apellidos y nombre, nome completo, nome do passageiro, passageiro,
    nom complet, nom du passager, passager, nom et prénom, nom prénom, vollständiger name, passagier, fluggast, name des passagiers,
    passagiername`,
  cabinClass: `cabin class, class, travel class, class of travel, class of service, service class, compartment, clase, clase de cabina,
    clase de servicio, clase de viaje, classe, classe de cabine, classe da cabine, classe de viagem, classe de voyage, classe de service,
    kabinenklasse, klasse, reiseklasse, beförderungsklasse`,
  loyaltyTier: `tier, loyalty, loyalty status, loyalty level, frequent flyer tier, frequent flyer status, ff tier, ff status, ffp tier,
    elite status, membership tier, nivel de fidelización, categoría de fidelidad, nivel de viajero frecuente, categoria de fidelidade,
    nível de fidelização, niveau de fidélité, statut voyageur fréquent, treuestatus, bonusstatus, statusstufe`,
  passengerType: `type, tipo, typ, pax type, passenger type code, ptc, tipo pasajero, tipo passageiro, tipo de pax, type passager, type pax, passagierart,
    fluggasttyp, reisendentyp`,
  birthDate: `date of birth, birth date, birthdate, dob, birthday, born, fecha de nacimiento, fecha nacimiento, nacimiento,
    data de nascimento, data nascimento, nascimento, date de naissance, naissance, né le, geburtsdatum, geboren, geburtstag`,
  specialRequirements: `special requirement, special needs, needs, requirements, ssr, ssrs, ssr code, ssr codes, special service request,
    special service requests, assistance, special assistance, requisitos especiales, requerimientos especiales, asistencia,
    asistencia especial, requisitos especiais, assistência, assistência especial, besoins spéciaux, besoins, assistance spéciale,
    demandes spéciales, besondere anforderungen, sonderwünsche, assistenz, betreuung, betreuungsbedarf`,
  wheelchair: `wheel chair, silla de ruedas, cadeira de rodas, fauteuil roulant, rollstuhl, wheelchair`,
  reducedMobility: `reduced mobility, prm, movilidad reducida, pmr, mobilidade reduzida, mobilité réduite, eingeschränkte mobilität`,
  visual: `visual impairment, visually impaired, blind, discapacidad visual, deficiência visual, déficience visuelle, malvoyant,
    sehbehindert, sehbehinderung, blind passenger`,
  hearing: `hearing impairment, hearing impaired, deaf, discapacidad auditiva, deficiência auditiva, déficience auditive, malentendant,
    hörbehindert, hörbehinderung, gehörlos`,
  serviceAnimal: `service animal, service dog, assistance dog, guide dog, perro guía, perro de asistencia, animal de servicio, cão-guia,
    cão de assistência, chien guide, chien d'assistance, assistenzhund, blindenhund`,
  infantCot: `infant cot, cot, baby cot, crib, cuna, berço, lit bébé, berceau, babybett, kinderbett`,
  email: `e-mail address, email address, mail, mail address, contact email, correo, correo-e, dirección de correo, email do passageiro,
    correio eletrônico, correio eletrónico, endereço de e-mail, adresse e-mail, adresse électronique, adresse mail, mél, mailadresse`,
  phone: `phone number, telephone, telephone number, tel, mobile, mobile number, mobile phone, cell, cell phone, cellphone, contact number,
    contact phone, número de teléfono, tel. móvil, móvil, teléfono móvil, celular, número de telefone, telemóvel, telefone celular,
    numéro de téléphone, téléphone portable, portable, téléphone mobile, numéro de portable, telefonnummer, handy, handynummer, mobil,
    mobiltelefon, mobilnummer, rufnummer`,
  language: `preferred language, lang, language code, idioma preferido, lengua, idioma de preferencia, língua, idioma preferencial,
    langue préférée, bevorzugte sprache, korrespondenzsprache`,
};

/** Without capitals, accents, blanks, punctuation and what stands in brackets. */
export const normalHeader = (text: string): string =>
  text
    .replaceAll(/\([^)]*\)|\[[^\]]*\]/g, "")
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/[^\p{Letter}\p{Number}]/gu, "");

const known = new Map<string, Field>(
  fields.flatMap((field) =>
    [
      field,
      ...synonyms[field].split(","),
      ...templateColumns
        .filter((column) => column.field === field)
        .flatMap(({ en, es, pt, fr, de }) => [en, es, pt, fr, de]),
    ].map((name) => [normalHeader(name), field] as const),
  ),
);

/** Undefined: nothing is known of such a column. */
export const fieldOf = (header: string): Field | undefined => known.get(normalHeader(header));

/** One word for the first, the last or the whole name; which of them, only the columns beside it tell. */
const bareNames: ReadonlySet<string> = new Set(["name", "names", "nom", "nome", "nombre"]);

export const isBareName = (header: string): boolean => bareNames.has(normalHeader(header));
