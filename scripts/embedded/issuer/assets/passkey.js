// Asks the browser for a passkey as the form's JSON says, and sends its answer with the form.
for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.addEventListener("submit", async (event) => {
    if (form.elements.response.value !== "") return;
    event.preventDefault();
    const status = form.querySelector("[role=status]");
    const options = JSON.parse(form.querySelector("script").textContent);
    try {
      const credential =
        form.dataset.passkey === "create"
          ? await navigator.credentials.create({
              publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
            })
          : await navigator.credentials.get({
              publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
            });
      form.elements.response.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch (error) {
      status.textContent = `The passkey was not used (${error.name}). Try again, or choose another way.`;
    }
  });
}
