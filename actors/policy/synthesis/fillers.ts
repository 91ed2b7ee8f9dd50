/** Owns the words of a prompt that change nothing: joints, courtesies, and the things that all policies speak of. */
import type { PromptLanguage } from "./reading.ts";

const words = `
a an the this that these those it its they them their there here we us our ours you your i my me and also as well then so both each every
of in on at by for from to with into per is are be been being was were am will would shall should must may can could do does have has had
need needs want wants get gets let make makes set sets give gives put book books booked booking house place stay stays use uses using
please thanks thank hello hi hey dear kindly just like create write draft new policy policies rule rules name named called following based
hotel hotels property properties accommodation lodging room rooms night nights overnight passenger passengers customer customers guest guests
traveller travellers traveler travelers people person persons pax flight flights airline airport airports terminal stranded disrupted cancelled flying travelling traveling coming leaving departing arriving
disruption disruptions case cases ok good tier tiers class classes cabin cabins rate rates price prices distance payment payments transport
demand wave waves allocation stars star rating amenities amenity which who whose where while about all any but always only up fine stuck allowed accepted required applies apply applying
covers cover offer offers offering include includes including included located

el la los las lo un una unos unas de del al a en con por para y e que se su sus es son sea sean ser esta este esto estos estas estan estar
hay haber debe deben debera deberan tiene tienen tenga tengan tener quiero queremos quisiera necesito necesitamos hacer haz pon poner dar dame
crea crear redacta redactar cree nueva nuevo politica politicas regla reglas llamada llamado por favor gracias hola tambien ademas asi
hotel hoteles alojamiento alojamientos hospedaje hospedar alojar aloja alojen establecimiento establecimientos habitacion habitaciones noche
noches pasajero pasajeros viajero viajeros cliente clientes huesped huespedes vuelo vuelos aerolinea aeropuerto aeropuertos terminal
nuestro nuestra nuestros nuestras cada todos todas toda todo clase clases cabina cabinas tarifa tarifas precio precios distancia pago pagos
transporte demanda ola olas asignacion categoria estrella estrellas servicio servicios varados cancelado cancelados reserva reservas reservar usar usa
utilizar incluya incluyan incluir incluido incluida ofrezca ofrezcan ofrecer ubicado ubicados aplica aplique les le nos donde cual cuales pero solo solamente unicamente exclusivamente volando viajan viajen salen siempre atrapados

o os um uma uns umas do da dos das no na nos nas ao aos pelo pela pelos pelas em com por para e que se seu sua seus suas eh sao seja sejam ser
esta este estes estas isso isto estao ha haver deve devem tem tenha tenham ter quero queremos preciso precisamos fazer faca dar crie criar
escreva nova novo politica politicas regra regras chamada chamado favor obrigado obrigada ola tambem alem disso assim
hotel hoteis hospedagem hospedar hospede hospedes acomodacao acomodacoes alojamento estabelecimento estabelecimentos quarto quartos noite noites
passageiro passageiros viajante viajantes cliente clientes voo voos companhia aerea aeroporto aeroportos terminal nosso nossa nossos nossas
cada todos todas toda todo classe classes cabine cabines tarifa tarifas preco precos diaria diarias distancia pagamento pagamentos transporte
demanda onda ondas alocacao categoria estrela estrelas servico servicos retidos cancelado cancelados reserva reservas reservar usar use utilizar
inclua incluam incluir incluido oferecer ofereca oferecam localizado localizados aplica aplique lhes onde qual quais fica fiquem ficar no porem so apenas somente exclusivamente voando viajam viajem saem sempre
`;

const fillers: ReadonlySet<string> = new Set(words.split(/\s+/).filter((word) => word !== ""));

/** Articles and joints of one language that say something in another: `no`, `or`. */
const telling: Readonly<Record<PromptLanguage, ReadonlySet<string>>> = {
  en: new Set(["no", "o"]),
  es: new Set(["no", "o"]),
  pt: new Set(["ou"]),
};

/** @param word in plain letters */
export const isFiller = (word: string, language: PromptLanguage): boolean => {
  const bare = word.replace(/'s?$/, "");
  return fillers.has(bare) && !telling[language].has(bare);
};
