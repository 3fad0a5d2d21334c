// Keeps what the browser gets when it signs in, then opens Parley. Other ports and sites cannot read this storage.

const { token, ticket } = document.getElementById("keys").dataset;
localStorage.setItem("parley.token", token);
localStorage.setItem("parley.ticket", ticket);
location.replace("/");
