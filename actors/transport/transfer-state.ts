/** Owns what a transfer is: all rides of one group, what each was ordered for, and the seats that it has or seeks. */
import type { CaseKind } from "../../schemas/drill.ts";
import type { RideOrder, SegmentStatus, SegmentView } from "../../schemas/transport.ts";
import type { Direction, VehicleType } from "../../schemas/vocabulary.ts";

/** An order of the group's saga, or what a person's segment goes by where the saga has ordered none. */
export interface Order extends RideOrder {
  reference: string;
  /** Set: the saga has heard how its ride stands. */
  told?: true;
  /** Set: the room is given up, and nothing is driven for it any more. */
  releasedAt?: Date;
}

/** What a ride is to be. */
export interface Wanted {
  scheduledAt: Date;
  vehicleType: VehicleType;
  specialRequirements: string[];
}

/** Seats in vehicles of one run, under the number of the search that has found them. */
export interface Seat extends Wanted {
  attempt: number;
  runId: string;
  vehicles: SegmentView["vehicles"];
}

/** A search for seats, or their giving up, until the run has answered: it is sent again when due. */
export interface Waiting {
  attempt: number;
  runId: string;
  tries: number;
  dueAt: Date;
}

export interface Segment extends Wanted {
  segmentId: string;
  reference: string;
  direction: Direction;
  /** Who wants it: the group's saga, somebody at a desk, or its passengers. */
  origin: "saga" | "desk" | "passenger";
  passengers: number;
  status: SegmentStatus;
  /** Searches for seats so far. */
  attempt: number;
  /** What stands, also while another one is sought. */
  seat?: Seat;
  sought?: Waiting;
  /** Why it was declined, or a change of it refused. */
  detail?: string;
  /** How often its vendor has cancelled by itself what was booked; absent: never. */
  losses?: number;
  createdAt: Date;
}

/** Seats that are given up. */
export interface Leaving extends Waiting {
  segmentId: string;
  reference: string;
  /** How often a person has had a refused cancellation asked again. */
  again: number;
  /** Set: the vehicle that this has emptied cannot be cancelled, and the saga has heard of it. */
  refusal?: { code: string; detail: string };
}

/** What the saga waits for. */
export interface Asked {
  verb: "book-ride" | "cancel-ride";
  reference: string;
  vendor: string;
  tries: number;
  again?: number;
  replyTo: { name: string; entity: string };
}

/** Its id is that of the group's sub-case. */
export interface TransferState {
  transferId: string;
  caseId: string;
  groupId: string;
  kind?: CaseKind;
  airport: string;
  /** In the order in which they came. */
  orders: Order[];
  segments: Segment[];
  leaving: Leaving[];
  asked?: Asked;
  /** Notes to the sub-case so far. */
  notes: number;
}

/** What a person's command, or a vendor, has done, for the audit trail. */
export interface Recorded {
  segmentId: string;
  action: string;
  before: object | null;
  after: object;
  /** Set: no person has done it, but a vendor. */
  isVendors?: true;
}

export type TransferEvent =
  | { type: "transfer.ordered"; data: { transferId: string; order: Order } }
  | { type: "transfer.flight-changed"; data: { reference: string; departure: string; shape: number } }
  | { type: "transfer.released"; data: { reference: string; at: Date } }
  | { type: "transfer.asked"; data: { asked: Asked } }
  | {
      type: "transfer.answered";
      data: { asked: Asked; result?: object; refusal?: { code: string; detail: string } };
    }
  | { type: "segment.planned"; data: { segment: Segment } }
  | { type: "segment.sought"; data: { segmentId: string; wanted: Wanted; sought: Waiting } }
  | { type: "segment.booked"; data: { segmentId: string; vehicles: SegmentView["vehicles"] } }
  /** `sagaTells`: the group's saga waits for it, and opens an item of its own. */
  | { type: "segment.declined"; data: { segmentId: string; detail: string; sagaTells: boolean } }
  /** Another vehicle could not be had: the one that stands is kept. */
  | { type: "segment.kept"; data: { segmentId: string; detail: string } }
  | { type: "segment.cancelled"; data: { segmentId: string } }
  /** Its vendor has cancelled them. */
  | { type: "seats.lost"; data: { segmentId: string; attempt: number } }
  | { type: "seats.given-up"; data: { leaving: Leaving } }
  | { type: "seats.left"; data: { segmentId: string; attempt: number } }
  | {
      type: "seats.stuck";
      data: {
        segmentId: string;
        attempt: number;
        refusal: { code: string; detail: string };
        sagaTells: boolean;
      };
    }
  | { type: "seats.given-up-again"; data: { leaving: Leaving } }
  | { type: "seats.search-repeated"; data: { segmentId: string; sought: Waiting } }
  | { type: "transfer.ride-noted"; data: { reference: string } }
  | { type: "transfer.recorded"; data: Recorded };

/** What changes nothing that a reader sees. */
export const technicalEvents: ReadonlySet<string> = new Set<TransferEvent["type"]>([
  "transfer.asked",
  "transfer.answered",
  "seats.lost",
  "seats.given-up",
  "seats.left",
  "seats.stuck",
  "seats.given-up-again",
  "seats.search-repeated",
  "transfer.ride-noted",
  "transfer.recorded",
]);

const withSegment = (
  state: TransferState,
  segmentId: string,
  change: (segment: Segment) => Segment,
): TransferState => ({
  ...state,
  segments: state.segments.map((segment) => (segment.segmentId === segmentId ? change(segment) : segment)),
});

const withOrder = (
  state: TransferState,
  reference: string,
  change: (order: Order) => Order,
): TransferState => ({
  ...state,
  orders: state.orders.map((order) => (order.reference === reference ? change(order) : order)),
});

/** What it is about is over. */
const rested = ({ sought: _s, detail: _d, ...segment }: Segment): Segment => segment;

const wantedOf = ({ scheduledAt, vehicleType, specialRequirements }: Wanted): Wanted => ({
  scheduledAt,
  vehicleType,
  specialRequirements,
});

const isOf = (leaving: Leaving, { segmentId, attempt }: { segmentId: string; attempt: number }): boolean =>
  leaving.segmentId === segmentId && leaving.attempt === attempt;

export const evolveTransfer = (before: TransferState | undefined, event: TransferEvent): TransferState => {
  if (event.type === "transfer.ordered") {
    const { transferId, order } = event.data;
    const { caseId, groupId, kind, airport } = order;
    const empty: TransferState = {
      transferId,
      caseId,
      groupId,
      ...(kind === undefined ? {} : { kind }),
      airport,
      orders: [],
      segments: [],
      leaving: [],
      notes: 0,
    };
    const state = before ?? empty;
    return { ...state, orders: [...state.orders, order] };
  }
  const state = before as TransferState;
  switch (event.type) {
    case "transfer.flight-changed": {
      const { reference, departure, shape } = event.data;
      return withOrder(state, reference, (order) => ({ ...order, departure, shape }));
    }
    case "transfer.released": {
      const { reference, at } = event.data;
      return withOrder(state, reference, (order) => ({ ...order, releasedAt: at }));
    }
    case "transfer.asked":
      return { ...state, asked: event.data.asked };
    case "transfer.answered": {
      const { verb, reference } = event.data.asked;
      const { asked, ...rest } = state;
      const isItself = asked?.verb === verb && asked.reference === reference;
      const left = isItself ? rest : state;
      return verb === "book-ride" ? withOrder(left, reference, (order) => ({ ...order, told: true })) : left;
    }
    case "segment.planned":
      return { ...state, segments: [...state.segments, event.data.segment] };
    case "segment.sought": {
      const { segmentId, wanted, sought } = event.data;
      return withSegment(state, segmentId, (segment) => ({
        ...rested(segment),
        ...wanted,
        status: "pending",
        attempt: sought.attempt,
        sought,
      }));
    }
    case "segment.booked": {
      const { segmentId, vehicles } = event.data;
      return withSegment(state, segmentId, (segment) => {
        const { attempt, runId } = segment.sought as Waiting;
        return {
          ...rested(segment),
          status: "booked",
          seat: { ...wantedOf(segment), attempt, runId, vehicles },
        };
      });
    }
    case "segment.declined": {
      const { segmentId, detail } = event.data;
      return withSegment(state, segmentId, (segment) => {
        const { seat: _, ...rest } = rested(segment);
        return { ...rest, status: "declined", detail };
      });
    }
    case "segment.kept": {
      const { segmentId, detail } = event.data;
      return withSegment(state, segmentId, (segment) => ({
        ...rested(segment),
        ...wantedOf(segment.seat ?? segment),
        status: "booked",
        detail,
      }));
    }
    case "segment.cancelled":
      return withSegment(state, event.data.segmentId, (segment) => {
        const { seat: _, ...rest } = rested(segment);
        return { ...rest, status: "cancelled" };
      });
    case "seats.lost": {
      const { segmentId, attempt } = event.data;
      return withSegment(state, segmentId, ({ seat, losses = 0, ...segment }) => ({
        ...segment,
        ...(seat === undefined || seat.attempt === attempt ? {} : { seat }),
        losses: losses + 1,
      }));
    }
    case "seats.given-up":
      return { ...state, leaving: [...state.leaving, event.data.leaving] };
    case "seats.left":
      return { ...state, leaving: state.leaving.filter((leaving) => !isOf(leaving, event.data)) };
    case "seats.stuck": {
      const { refusal, sagaTells } = event.data;
      // What is on somebody's desk is no affair of a rollback that comes later.
      if (!sagaTells)
        return { ...state, leaving: state.leaving.filter((leaving) => !isOf(leaving, event.data)) };
      return {
        ...state,
        leaving: state.leaving.map((leaving) =>
          isOf(leaving, event.data) ? { ...leaving, refusal } : leaving,
        ),
      };
    }
    case "seats.given-up-again": {
      const again = event.data.leaving;
      return {
        ...state,
        leaving: state.leaving.map((leaving) => (isOf(leaving, again) ? again : leaving)),
      };
    }
    case "seats.search-repeated": {
      const { segmentId, sought } = event.data;
      return withSegment(state, segmentId, (segment) => ({ ...segment, sought }));
    }
    case "transfer.ride-noted":
      return { ...state, notes: state.notes + 1 };
    case "transfer.recorded":
      return state;
    default:
      return event satisfies never;
  }
};
