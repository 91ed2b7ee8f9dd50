/** Owns the names that Spanish and Portuguese have for cities whose airports are known under another one. */

/** In plain letters: the city in the airport file, or an airport's code, and how else it is called. */
const names = `
new york: nueva york, nova york, nova iorque, nyc
london: londres
lisbon: lisboa
ciudad de mexico: mexico city, cidade do mexico, cdmx
mexico city: ciudad de mexico, cidade do mexico, cdmx
scl: santiago de chile
cdg: roissy
munich: munique
milan: milao
geneva: ginebra, genebra
brussels: bruselas, bruxelas
amsterdam: amesterda, amesterdao
frankfurt am main: frankfurt, francfort, francforte
vienna: viena
prague: praga
warsaw: varsovia
tokyo: tokio, toquio
beijing: pekin, pequim
moscow: moscu, moscou
athens: atenas
copenhagen: copenhague, copenhaga
stockholm: estocolmo
rome: roma
florence: florencia, florenca
venice: venecia, veneza
naples: napoles
turin: turim
marseille: marsella, marselha
lyon: liao
zurich: zurique
hamburg: hamburgo
berlin: berlim
cologne: colonia
dublin: dublim
edinburgh: edimburgo
seville: sevilla, sevilha
new delhi: nueva delhi, nova deli, nova delhi
cairo: el cairo
istanbul: estambul, istambul
seoul: seul
singapore: singapur, singapura
philadelphia: filadelfia
new orleans: nueva orleans, nova orleans
havana: la habana
bogota: santafe de bogota
cape town: ciudad del cabo, cidade do cabo
johannesburg: johannesburgo, joanesburgo
`;

const known = new Map<string, string[]>();
for (const line of names.trim().split("\n")) {
  const [city = "", others = ""] = line.split(": ");
  for (const other of others.split(", ")) known.set(other, [...(known.get(other) ?? []), city]);
}

/** What the airport file may have it under; empty: nothing else. @param name in plain letters */
export const citiesNamed = (name: string): readonly string[] => known.get(name) ?? [];
