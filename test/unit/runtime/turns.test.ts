// Messages are taken up in turn: at once while the process keeps up, held back while somebody waits for an answer, never for good.
// In a process of its own: it puts something in the place of what everybody calls.
import t from "tap";
import { answering, takeTurn } from "../../../streams/turns.ts";

/** Takes this many turns at once; resolves with the order in which they came. */
const takeAll = async (count: number): Promise<number[]> => {
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      await takeTurn();
      order.push(i);
    }),
  );
  return order;
};

const inOrder = Array.from({ length: 40 }, (_, i) => i);

t.test("an idle process takes up a message at once", async (t) => {
  await takeAll(1);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(takeTurn(), undefined);
});

t.test("first come, first served", async (t) => t.strictSame(await takeAll(40), inOrder));

t.test(
  "while somebody waits for an answer, messages wait for their turn, and come to it all the same",
  async (t) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const answer = answering(() => promise);
    t.not(takeTurn(), undefined, "not at once");
    t.strictSame(await takeAll(40), inOrder, "but all, in their order, however long the answer takes");
    resolve("done");
    t.equal(await answer, "done");
  },
);

/** Turns of the event loop, for so long. */
const turnFor = async (ms: number): Promise<void> => {
  for (const start = performance.now(); performance.now() - start < ms; )
    await new Promise((resolve) => turn(resolve));
};
const turn = setImmediate;

t.test(
  "while somebody waits for an answer and nothing else waits, the event loop has nothing to do",
  async (t) => {
    let armed = 0;
    globalThis.setImmediate = Object.assign((...args: Parameters<typeof turn>) => {
      armed += 1;
      return turn(...args);
    }, turn);
    t.teardown(() => {
      globalThis.setImmediate = turn;
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    await takeTurn();
    const answer = answering(() => promise);
    await turnFor(30);
    t.ok(armed < 5, `${armed} ticks`);
    resolve();
    await answer;
    await turnFor(5);
    t.equal(takeTurn(), undefined, "and its allowance is full again afterwards");
  },
);

t.test("an answer that waits for something slow holds nobody back for long", async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const answer = answering(() => promise);
  t.not(takeTurn(), undefined, "at first it does");
  while (takeTurn() !== undefined) await turnFor(10);
  resolve();
  await answer;
  const next = Promise.withResolvers<void>();
  const another = answering(() => next.promise);
  t.not(takeTurn(), undefined, "its end is counted once");
  next.resolve();
  await another;
});

t.test("an answer that fails holds nobody back any longer", async (t) => {
  await t.rejects(
    answering(() => Promise.reject(new Error("refused"))),
    { message: "refused" },
  );
  await takeAll(40);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(takeTurn(), undefined);
});
