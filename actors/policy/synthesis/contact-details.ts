/** Owns what of a prompt is kept and passed on: nothing by which a person could be reached or paid with. */

const mask = "[masked]";
const mail = /[^\s@<>"(),;:]+@[^\s@<>"'(),;:]+/gu;
/** Nine digits or more, however they are grouped, or fewer after a plus: no figure of a policy is as long. */
const number = /\+\d(?:[ ()./-]{0,3}\d){6,}|(?<![\d.,])\d(?:[ ()./-]{0,2}\d){8,}/g;

export const withoutContacts = (prompt: string): string => prompt.replace(mail, mask).replace(number, mask);
