// Presses the button that the console has asked for already.
document.querySelector("button[data-submit]").click();
