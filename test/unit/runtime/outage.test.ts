// What the drivers throw while a server is away is told from a fault of the message, by the classes that they really throw.
import { JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import {
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoNotConnectedError,
  MongoServerError,
  MongoServerSelectionError,
} from "mongodb";
import t from "tap";
import { Problem } from "../../../schemas/problems.ts";
import { outageOf } from "../../../streams/outage.ts";

/** Of classes that their packages keep to themselves. */
const named = (name: string): Error => Object.assign(new Error("away"), { name });

t.test("outages", async (t) => {
  const documents = [
    new MongoNetworkError("x"),
    new MongoNetworkTimeoutError("x"),
    new MongoNotConnectedError("x"),
    new MongoServerSelectionError("x", {} as never),
    named("MongoPoolClearedError"),
    named("PoolClearedOnNetworkError"),
    named("MongoWaitQueueTimeoutError"),
  ];
  for (const error of documents) t.equal(outageOf(error), "documents", error.name);
  const streams = [
    new errors.TimeoutError(),
    new errors.RequestError("x"),
    new errors.NoRespondersError("x"),
    new errors.ConnectionError("x"),
    new errors.ClosedConnectionError(),
    new errors.DrainingConnectionError(),
    named("JetStreamNotEnabled"),
  ];
  const answered = (code: number, err_code: number) =>
    new JetStreamApiError({ code, err_code, description: "x" });
  streams.push(
    answered(503, 10_008),
    answered(500, 10_077),
    Object.assign(named("JetStreamStatusError"), { code: 503 }),
    named("BucketContentionError"),
  );
  for (const error of streams) t.equal(outageOf(error), "streams", error.name);
  const faults = [
    new MongoServerError({ message: "E11000", code: 11_000 }),
    new Problem("conflict/state", "no"),
    new errors.PermissionViolationError("x", "publish", "a.b"),
    answered(400, 10_071),
    answered(404, 10_059),
    Object.assign(named("JetStreamStatusError"), { code: 409 }),
    Object.assign(new Error("x"), { status: 503 }),
    new TypeError("x"),
    "TimeoutError",
    undefined,
  ];
  for (const error of faults) t.equal(outageOf(error), undefined, String(error));
});
