// One call of each route that succeeds, with the weakest role or scope that may make it. A route without its line here fails
// the matrix. What a line names is not named by another one where success changes it.
import type { Call } from "../../harness/clients.ts";
import { fileForm } from "../../harness/forms.ts";
import { smallFlight } from "../../harness/instance.ts";
import { signedWebhook } from "../../harness/vendor-webhook.ts";
import { contractBody, dayFromNow } from "./terms.ts";
import type { World } from "./world.ts";

export type Example = (world: World) => Pick<Call, "params" | "query" | "body" | "raw" | "headers" | "token">;

const reason = { reason: "Agreed with the duty manager" };
const resolution = { resolution: "SETTLED", ...reason };
const ofCase: Example = ({ xn }) => ({ params: { caseUrn: xn.caseUrn } });
const ofReservation: Example = ({ xn }) => ({ params: { reservationUrn: xn.reservationUrn } });
const stay = { checkIn: dayFromNow(1), nights: 1, rooms: 1 };
const bare: Example = () => ({});
const decision: Example = () => ({ body: {} });

const manualFlight = (departure: string) => ({
  number: "XN1",
  origin: "JFK",
  destination: "LIS",
  scheduledDeparture: departure,
  status: "CANCELLED",
});

export const examples: Readonly<Record<string, Example>> = {
  openCaseManually: () => {
    const { flight } = smallFlight("XN", "by-hand", 1);
    return {
      body: {
        externalEventId: "XN-by-hand",
        flight: manualFlight(flight.scheduledDeparture),
        passengerGroups: [{ passengers: [{ pnr: "HANDED", lastName: "Lovelace", cabinClass: "ECONOMY" }] }],
      },
    };
  },
  listCases: bare,
  getCase: ofCase,
  getDashboard: bare,
  getManifest: ofCase,
  closeCase: ({ spare }) => ({ params: { caseUrn: spare.closable }, body: reason }),
  reopenCase: ({ spare }) => ({ params: { caseUrn: spare.closed }, body: reason }),
  compensate: ({ spare }) => ({ params: { subCaseUrn: spare.compensable }, body: {} }),
  lockSubCase: ({ xn }) => ({ params: { subCaseUrn: xn.subCaseUrn }, body: {} }),
  unlockSubCase: ({ xn }) => ({ params: { subCaseUrn: xn.subCaseUrn }, body: {} }),
  closeSession: bare,
  allocateCase: ({ spare }) => ({ params: { caseUrn: spare.allocatable[0] }, body: {} }),
  allocate: ({ spare }) => ({ body: { caseUrn: spare.allocatable[1] } }),
  bookRooms: ({ spare }) => ({ params: { caseUrn: spare.bookable }, body: {} }),
  overrideWave: ({ spare: { choice } }) => ({
    params: { waveUrn: choice.waveUrn },
    body: { groupId: choice.groupId, hotelUrn: choice.hotelUrn, ...reason },
  }),
  rerunWave: ({ spare }) => ({ params: { waveUrn: spare.repeatable }, body: {} }),
  getWave: ({ xn }) => ({ params: { waveUrn: xn.waveUrn } }),
  groupPassengers: ({ spare: { regroup } }) => ({
    params: { caseUrn: regroup.caseUrn },
    body: { groups: regroup.pairs[1].map((urn) => ({ passengerUrns: [urn] })), ...reason },
  }),
  splitGroup: ({ spare: { regroup } }) => ({
    params: { caseUrn: regroup.caseUrn, groupId: regroup.splittable },
    body: { into: regroup.pairs[0].map((urn) => [urn]), ...reason },
  }),
  mergeGroups: ({ spare: { regroup } }) => ({
    params: { caseUrn: regroup.caseUrn },
    body: { groupIds: regroup.mergeable, ...reason },
  }),
  reaccommodate: ({ spare: { regroup } }) => ({
    params: { caseUrn: regroup.caseUrn },
    body: {
      nextFlight: { number: "XN486", scheduledDeparture: `${dayFromNow(3)}T14:00:00Z` },
      ...reason,
    },
  }),
  freezeDemand: ({ freezable }) => ({ body: { airport: freezable(), ...reason } }),
  listDemandFreezes: bare,
  liftDemandFreeze: ({ spare }) => ({ params: { freezeUrn: spare.freeze } }),
  searchAirports: () => ({ query: { q: "lon" } }),
  searchHotels: () => ({ body: { airport: "JFK", ...stay } }),
  listHotels: bare,
  listCaseHotels: ofCase,
  getMetrics: () => ({
    query: { kpi: "rooms.booked", from: `${dayFromNow(-1)}T00:00:00Z`, to: `${dayFromNow(1)}T00:00:00Z` },
  }),
  getPartnerAvailability: () => ({
    query: { from: `${dayFromNow(-1)}T00:00:00Z`, to: `${dayFromNow(1)}T00:00:00Z` },
  }),
  invalidateHotels: () => ({ query: { airport: "JFK" } }),
  getReservation: ofReservation,
  getReservationVoucher: ofReservation,
  reserveManually: ({ spare: { handheld } }) => ({
    body: {
      ...handheld,
      ...stay,
      hotel: { name: "Harbour Rooms", address: "7 Quay Street" },
      confirmationNumber: "HR-20871",
      totalMinor: 18_900,
      currency: "USD",
      ...reason,
    },
  }),
  requestDemand: ({ xn }) => ({
    params: { caseUrn: xn.caseUrn },
    body: { type: "INCREMENTAL", roomsRequested: 1 },
  }),
  approveDemand: ({ spare }) => ({ params: { demandUrn: spare.demands[0] }, body: reason }),
  rejectDemand: ({ spare }) => ({ params: { demandUrn: spare.demands[1] }, body: reason }),
  listPendingApprovals: bare,
  getDemandSummary: ofCase,
  createPolicy: ({ xn }) => ({
    body: { name: "Another", context: { airport: "JFK", airline: xn.airline.urn }, tiers: ["CREW"] },
  }),
  activatePolicy: ({ spare }) => ({ params: { policyUrn: spare.draft } }),
  deactivatePolicy: ({ spare }) => ({ params: { policyUrn: spare.draft } }),
  patchPolicy: ({ spare }) => ({
    params: { policyUrn: spare.draft },
    body: { patch: { name: "Renamed" }, ...reason },
  }),
  generatePolicy: () => ({ body: { description: "Crew at JFK: at least 3 stars within 10 km" } }),
  synthesizePolicy: () => ({ body: { description: "Tripulación en JFK, hasta 180 USD por noche" } }),
  getPolicy: ({ xn }) => ({ params: { policyUrn: xn.policyUrn } }),
  listActivePolicies: bare,
  resolvePolicy: () => ({ query: { airport: "JFK", tier: "ECONOMY" } }),
  listContracts: bare,
  analyzeContract: () => fileForm("%PDF-1.7\n", "contract.pdf"),
  getContractAnalysis: ({ xn }) => ({ params: { analysisUrn: xn.analysisUrn } }),
  putContract: ({ xn }) => ({ body: { ...contractBody("JFK", "Renewed"), contractUrn: xn.contractUrn } }),
  getCaseProgress: ofCase,
  listManualReview: bare,
  claimReview: ({ spare }) => ({ params: { reviewUrn: spare.reviews[0] } }),
  resolveReview: ({ spare }) => ({ params: { reviewUrn: spare.reviews[1] }, body: resolution }),
  resolveReviewAtDesk: ({ spare }) => ({ params: { reviewUrn: spare.reviews[2] }, body: resolution }),
  listReviewItems: bare,
  getReviewItem: ({ spare }) => ({ params: { reviewUrn: spare.reviews[0] } }),
  releaseReview: ({ spare }) => ({ params: { reviewUrn: spare.desk.releasable }, body: reason }),
  rebookReview: ({ spare: { desk } }) => ({
    params: { reviewUrn: desk.rebookable.reviewUrn },
    body: { hotelUrn: desk.rebookable.hotelUrn, ...reason },
  }),
  relaxReview: ({ spare: { desk } }) => ({
    params: { reviewUrn: desk.relaxable },
    body: { fields: { maxDistanceKm: 30 }, ...reason },
  }),
  splitReview: ({ spare: { desk } }) => ({
    params: { reviewUrn: desk.splittable.reviewUrn },
    body: { into: desk.splittable.passengers.map((urn) => [urn]), ...reason },
  }),
  overrideReview: ({ spare: { desk } }) => ({
    params: { reviewUrn: desk.overridable.reviewUrn },
    body: {
      hotelUrn: desk.overridable.hotelUrn,
      providerOfferId: desk.overridable.providerOfferId,
      ...reason,
    },
  }),
  assignReview: ({ spare }) => ({
    params: { reviewUrn: spare.desk.assignable },
    body: { userUrn: "urn:user:on-call", ...reason },
  }),
  escalateReview: ({ spare }) => ({ params: { reviewUrn: spare.desk.assignable }, body: reason }),
  triageReview: ({ spare }) => ({ body: { reviewUrn: spare.desk.assignable } }),
  approveAgentAction: ({ spare }) => ({
    params: { agentActionUrn: spare.desk.proposals.approvable },
    body: reason,
  }),
  rejectAgentAction: ({ spare }) => ({
    params: { agentActionUrn: spare.desk.proposals.rejectable },
    body: reason,
  }),
  executeAgentAction: ({ spare }) => ({
    params: { agentActionUrn: spare.desk.proposals.executable },
    body: reason,
  }),
  listReservations: ofCase,
  getCaseAudit: ofCase,
  getEntityAudit: ({ xn }) => ({ params: { entityUrn: xn.caseUrn } }),
  searchAudit: () => ({ query: { action: "case.request-demand" } }),
  exportAudit: () => ({ query: { action: "case.request-demand" } }),
  requestTransfers: ({ xn }) => ({ params: { caseUrn: xn.caseUrn }, body: {} }),
  listSegments: ({ spare }) => ({ params: { caseUrn: spare.driven.caseUrn } }),
  createSegment: ({ spare }) => ({
    body: {
      reservationUrn: spare.driven.reservationUrn,
      direction: "AIRPORT_TO_HOTEL",
      scheduledAt: `${dayFromNow(1)}T20:00:00Z`,
      vehicleType: "WHEELCHAIR_VAN",
      specialRequirements: ["SERVICE_ANIMAL"],
    },
  }),
  retimeSegment: ({ spare }) => ({
    params: { segmentUrn: spare.driven.segments[0] },
    body: { scheduledAt: `${dayFromNow(1)}T21:00:00Z`, ...reason },
  }),
  changeSegmentVehicle: ({ spare }) => ({
    params: { segmentUrn: spare.driven.segments[1] },
    body: { vehicleType: "PRIVATE_CAR", ...reason },
  }),
  cancelSegment: ({ spare }) => ({ params: { segmentUrn: spare.driven.segments[2] }, body: reason }),
  listNotifications: ofCase,
  sendNotification: ({ xn }) => ({
    params: { caseUrn: xn.caseUrn },
    body: { templateId: "voucher-issued", ...reason },
  }),
  listRevocations: bare,
  listWebhookDeliveries: ({ xn }) => ({ query: { caseUrn: xn.caseUrn } }),
  revokeAccess: () => ({ body: { subject: "a-lost-account", ...reason } }),
  liftRevocation: ({ spare }) => ({ params: { revocationUrn: spare.revocation } }),

  logIn: ({ booking, clients }) => ({ body: { ...booking, captcha: clients.instance.captcha } }),
  exchangeMagicLink: ({ link }) => ({ body: { token: link() } }),
  streamMyEvents: bare,
  getMe: bare,
  getMyOffer: bare,
  getMyTransport: bare,
  getMyWallet: bare,
  revealMyCard: bare,
  getMyVoucher: bare,
  listMyNotifications: bare,
  acceptMyOffer: decision,
  checkIn: decision,
  requestMyRide: () => ({ body: { direction: "AIRPORT_TO_HOTEL" } }),
  reportMyProblem: () => ({ body: { category: "ROOM", text: "The desk has no room under our name." } }),
  declineMyOffer: ({ sessions }) => ({ token: sessions.decliner, body: {} }),

  pushDisruption: () => ({ body: smallFlight("XN", "pushed", 1) }),
  getPartnerCase: ofCase,
  listPartnerCases: bare,
  listPartnerPassengers: ofCase,
  listPartnerServices: ofCase,
  getPartnerBooking: ({ xn }) => ({ params: { bookingUrn: xn.bookingUrn } }),
  getPartnerVoucher: ({ xn }) => ({ params: { voucherUrn: xn.voucherUrn } }),
  listPassengerCases: ({ xn }) => ({ params: { passengerUrn: xn.passengerUrn } }),
  listPassengerVouchers: ({ xn }) => ({ params: { passengerUrn: xn.passengerUrn } }),
  listPartnerPolicies: bare,
  getPartnerMetrics: () => ({
    query: { kpi: "cases.opened", from: `${dayFromNow(-1)}T00:00:00Z`, to: `${dayFromNow(1)}T00:00:00Z` },
  }),
  listDisruptions: bare,
  amendManifest: ({ spare }) => ({
    params: { caseUrn: spare.amendable.caseUrn },
    body: {
      decidedAt: `${dayFromNow(-1)}T20:00:00Z`,
      passengers: [{ pnr: "LATE01", lastName: "Hopper", cabinClass: "ECONOMY" }],
    },
  }),
  addPassengers: ({ spare }) => ({
    params: { caseUrn: spare.amendable.caseUrn },
    ...fileForm("Localizador;Apellidos;Cabina\nSHEET1;Hopper;Turista\n"),
  }),
  getPassengerTemplate: bare,
  getPassengerTemplateAsText: bare,
  requestPriority: ({ spare }) => ({
    params: { caseUrn: spare.amendable.caseUrn },
    body: { groupIds: [spare.amendable.groupId], reason: "REDUCED_MOBILITY" },
  }),
  notifyPassenger: ({ xn }) => ({
    params: { passengerUrn: xn.passengerUrn },
    body: { templateId: "voucher-issued" },
  }),
  testWebhook: bare,
  listMyWebhookDeliveries: bare,
  replayEvents: ({ spare }) => ({ query: { since: spare.replay.since } }),
  getReplay: ({ spare }) => ({ params: { replayUrn: spare.replay.urn } }),

  issueAccessToken: ({ clients, xn }) => ({
    body: {
      grant_type: "client_credentials",
      client_id: xn.airline.partners[0]?.clientId,
      client_secret: xn.airline.partners[0]?.clientSecret,
      audience: clients.instance.audiences.partner,
    },
  }),
  receiveVendorWebhook: ({ spare: { webhooks } }) =>
    signedWebhook(webhooks.vendor, webhooks.secret, { id: "evt", type: "card.created", data: {} }),
  showKeySet: bare,
  showKeySetOfSurface: () => ({ params: { file: "partner.json" } }),
  showOperatorChannel: bare,
  showWebhookDescription: bare,
  showWebhookSignatureModule: bare,
  showWebhookTestVectors: bare,
  showDescription: () => ({ params: { surface: "operator" } }),
  reportLiveness: bare,
  reportReadiness: bare,
};
