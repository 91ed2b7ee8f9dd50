/** Owns the Portuguese words. */
import { say } from "../copy.ts";
import type { Words } from "./wording.ts";

export const pt: Words = {
  signature: (f) => say`${f.airline}. Esta mensagem foi enviada automaticamente; as respostas não são lidas.`,
  templates: {
    "offer-ready": {
      sms: (f) =>
        say`Voo ${f.flight}: há um quarto para si. ${f.hotel}, de ${f.checkIn} a ${f.checkOut}. Voucher ${f.code}.${f.page && say` Aceite ou recuse: ${f.page}`}`,
      subject: (f) => say`O seu quarto para esta noite, voo ${f.flight}`,
      body: (f) => [
        say`Lamentamos o ocorrido com o voo ${f.flight}. Há um quarto para si.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: de ${f.checkIn} a ${f.checkOut}. Voucher ${f.code}.`,
        f.page && say`Aceite ou recuse em ${f.page}`,
      ],
    },
    "voucher-issued": {
      sms: (f) =>
        say`O seu voucher de hotel ${f.code}, voo ${f.flight}: ${f.hotel}, de ${f.checkIn} a ${f.checkOut}.${f.page && say` Detalhes: ${f.page}`}`,
      subject: (f) => say`O seu voucher de hotel, voo ${f.flight}`,
      body: (f) => [
        say`Este é o seu voucher de hotel: ${f.code}. Mostre-o na receção.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: de ${f.checkIn} a ${f.checkOut}.`,
        f.page && say`Detalhes em ${f.page}`,
      ],
    },
    "stay-changed": {
      sms: (f) =>
        say`Voo ${f.flight}: a sua estadia mudou. ${f.hotel} é seu de ${f.checkIn} a ${f.checkOut}. O voucher ${f.code} continua válido.${f.page && say` ${f.page}`}`,
      subject: (f) => say`Novas datas da sua estadia, voo ${f.flight}`,
      body: (f) => [
        say`O seu próximo voo mudou, e com ele o seu quarto.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: é agora seu de ${f.checkIn} a ${f.checkOut}. O voucher ${f.code} continua válido.`,
        f.page && say`Detalhes em ${f.page}`,
      ],
    },
    "hotel-changed": {
      sms: (f) =>
        say`Voo ${f.flight}: tem outro hotel. ${f.hotel}, de ${f.checkIn} a ${f.checkOut}. Novo voucher ${f.code}.${f.page && say` Detalhes: ${f.page}`}`,
      subject: (f) => say`Tem outro hotel, voo ${f.flight}`,
      body: (f) => [
        say`O seu hotel mudou. O voucher que tinha já não é válido.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: de ${f.checkIn} a ${f.checkOut}. Novo voucher ${f.code}.`,
        f.page && say`Detalhes em ${f.page}`,
      ],
    },
    "transport-updated": {
      sms: (f) =>
        say`Voo ${f.flight}: o seu transporte (${f.vehicle}) para ${f.hotel} parte a ${f.pickup}.${f.page && say` Detalhes: ${f.page}`}`,
      subject: (f) => say`O seu transporte para o hotel, voo ${f.flight}`,
      body: (f) => [
        say`O seu transporte para ${f.hotel} parte a ${f.pickup}, hora local. Veículo: ${f.vehicle}.`,
        f.page && say`Detalhes em ${f.page}`,
      ],
    },
    "offer-withdrawn": {
      sms: (f) =>
        say`Voo ${f.flight}: já não há quarto reservado para si; um voucher que tivesse já não é válido.${f.page && say` Detalhes: ${f.page}`}`,
      subject: (f) => say`Já não há quarto reservado para si, voo ${f.flight}`,
      body: (f) => [
        say`Já não há quarto reservado para si pelo voo ${f.flight}. Um voucher que tivesse já não é válido.`,
        say`Se ainda precisa de um quarto, pergunte à ${f.airline} no aeroporto.`,
        f.page && say`Detalhes em ${f.page}`,
      ],
    },
    welcome: {
      sms: (f) =>
        say`Voo ${f.flight}: estamos a tratar de si. Veja o que está organizado com a sua reserva e apelido: ${f.page}`,
      subject: (f) => say`Estamos a tratar de si, voo ${f.flight}`,
      body: (f) => [
        say`Lamentamos o ocorrido com o voo ${f.flight} e estamos a organizar o que precisa.`,
        say`Veja como está, com o código da sua reserva e o seu apelido, em ${f.page}`,
      ],
    },
    "magic-link": {
      sms: (f) => say`Voo ${f.flight}: a sua ligação, de um só uso. Não a partilhe. ${f.page}`,
      subject: (f) => say`A sua ligação, voo ${f.flight}`,
      body: (f) => [
        say`Esta ligação abre o que está organizado para si pelo voo ${f.flight}. Serve uma só vez: não a partilhe.`,
        say`${f.page}`,
      ],
    },
  },
};
